// Excluded (sample, label) pairs of an evaluation, as in filter_labels_test.txt of the extreme classification
// repository (Bhatia et al. 2016): for example a product that would recommend itself. Immutable, safe from
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"

namespace slide {

class LabelPairs {
 public:
  // No pairs.
  LabelPairs() = default;
  // `pairs` (sample, label) in any order, duplicates allowed; samples are below `samples`.
  LabelPairs(std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs, std::size_t samples);

  bool empty() const { return labels_.empty(); }
  std::size_t size() const { return labels_.size(); }
  // Max number of pairs of one sample.
  std::size_t max_per_sample() const { return max_per_sample_; }
  // The labels of a sample, ascending; empty beyond the last sample.
  std::span<const std::uint32_t> of(std::size_t sample) const {
    if (sample + 1 >= offsets_.size()) return {};
    return std::span(labels_).subspan(offsets_[sample], offsets_[sample + 1] - offsets_[sample]);
  }
  bool has(std::size_t sample, std::uint32_t label) const;

 private:
  std::vector<std::size_t> offsets_;
  std::vector<std::uint32_t> labels_;
  std::size_t max_per_sample_ = 0;
};

// Reads a file, compressed or not, of lines `sample label`, from 0; skips blank lines. Throws InputError with
// line and column for malformed lines, a sample of `samples` or more, and a label of `labels` or more (0: no
// limit).
LabelPairs read_label_pairs(const std::string& path, std::size_t samples, std::uint32_t labels);

// Returns `data` without the (sample, label) pairs of `pairs`; shares features.
Dataset labels_without(const Dataset& data, const LabelPairs& pairs);

}  // namespace slide

// Pairs of a sample and a label that count for nothing in an evaluation, as filter_labels_test.txt of the
// label-text sets of the extreme classification repository (Bhatia et al. 2016) has them: a product that is
// asked for itself. Immutable once made, then safe to use from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "datasets/dataset.h"

namespace slide {

class LabelPairs {
 public:
  // Pairs of no sample.
  LabelPairs() = default;
  // `pairs` of a sample and a label, in any order, also twice; samples lie below `samples`.
  LabelPairs(std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs, std::size_t samples);

  bool empty() const { return labels_.empty(); }
  std::size_t size() const { return labels_.size(); }
  // Labels of one sample at most.
  std::size_t most() const { return most_; }
  // The labels of a sample, ascending; none of a sample beyond the last.
  std::span<const std::uint32_t> of(std::size_t sample) const {
    if (sample + 1 >= offsets_.size()) return {};
    return std::span(labels_).subspan(offsets_[sample], offsets_[sample + 1] - offsets_[sample]);
  }
  bool has(std::size_t sample, std::uint32_t label) const;

 private:
  std::vector<std::size_t> offsets_;
  std::vector<std::uint32_t> labels_;
  std::size_t most_ = 0;
};

// Reads a file, packed or not, of lines `sample label`, both counted from 0; blank lines count for nothing.
// Throws InputError that names line and column for anything else, for a sample of `samples` or more, and for
// a label of `labels` or more, where that is not 0.
LabelPairs read_label_pairs(const std::string& path, std::size_t samples, std::uint32_t labels);

// `data` without the labels of these pairs; features are shared.
Dataset labels_without(const Dataset& data, const LabelPairs& pairs);

}  // namespace slide

// Inverted index from labels to samples (compressed rows).
//
// Immutable, safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace slide {

class SamplesOfLabels {
 public:
  // labels_of(i) returns the labels of sample i < `samples`, each below `labels`; `samples` is below 2^32.
  template <class LabelsOf>
  SamplesOfLabels(std::size_t samples, std::size_t labels, LabelsOf labels_of) : offsets_(labels + 1, 0) {
    for (std::size_t i = 0; i < samples; ++i) {
      for (const std::uint32_t label : labels_of(i)) ++offsets_[label + 1];
    }
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    samples_.resize(offsets_.back());
    std::vector<std::uint64_t> next(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t i = 0; i < samples; ++i) {
      for (const std::uint32_t label : labels_of(i)) samples_[next[label]++] = static_cast<std::uint32_t>(i);
    }
  }

  // The samples of a label, ascending; a sample that lists the label twice occurs twice.
  std::span<const std::uint32_t> of(std::size_t label) const {
    return std::span(samples_).subspan(offsets_[label], offsets_[label + 1] - offsets_[label]);
  }

  // Prefetches rows of samples that are read soon, when labels are visited one after the other: the rows of
  // label + 1, and where those of label + 2 lie; each up to kPrefetched. prefetch_row(sample) and
  // prefetch_offsets(sample) prefetch for a sample.
  template <class PrefetchRow, class PrefetchOffsets>
  void prefetch_after(std::size_t label, PrefetchRow&& prefetch_row,
                      PrefetchOffsets&& prefetch_offsets) const {
    const std::size_t labels = offsets_.size() - 1;
    const auto each_first = [&](std::size_t later, auto&& visit) {
      if (later >= labels) return;
      const auto all = of(later);
      for (const std::uint32_t sample : all.first(std::min(all.size(), kPrefetched))) visit(sample);
    };
    each_first(label + 1, prefetch_row);
    each_first(label + 2, prefetch_offsets);
  }

 private:
  static constexpr std::size_t kPrefetched = 16;  // samples

  std::vector<std::uint64_t> offsets_;  // by label
  std::vector<std::uint32_t> samples_;
};

}  // namespace slide

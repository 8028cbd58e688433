// Label co-occurrence: for each label, the labels that occur most often in the same training samples, with
// their conditional probability.
//
// Immutable, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace slide {

class LabelCooccurrence {
 public:
  static constexpr std::size_t kMax = 8;            // max co-occurring labels per label
  static constexpr std::uint32_t kMinTogether = 2;  // min samples that have both labels
  static constexpr std::size_t kUnseen = 10;        // smoothing: pseudo-samples without the other label
  // Max label entries inspected per label: a label with more is counted on an evenly spaced subset of its
  // samples.
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 14;

  struct Cooccurring {
    std::uint32_t label;
    // Smoothed P(label | other) = samples with both / (samples with the other + kUnseen).
    float probability;
  };

  LabelCooccurrence() = default;  // no labels
  // The labels of sample i are labels[offsets[i] .. offsets[i + 1]), without duplicates.
  LabelCooccurrence(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> labels);

  // The labels that co-occur with `label`, ascending by id; empty for an unknown label.
  std::span<const Cooccurring> of(std::uint32_t label) const {
    if (label + std::size_t{1} >= offsets_.size()) return {};
    return std::span(cooccurrence_).subspan(offsets_[label], offsets_[label + 1] - offsets_[label]);
  }
  std::size_t bytes() const {
    return offsets_.size() * sizeof(offsets_[0]) + cooccurrence_.size() * sizeof(Cooccurring);
  }
  // Upper bound of the memory for `labels` labels.
  static double bytes_of(double labels) {
    return labels * (sizeof(std::uint64_t) + kMax * sizeof(Cooccurring));
  }

 private:
  std::vector<std::uint64_t> offsets_;  // by label
  std::vector<Cooccurring> cooccurrence_;
};

}  // namespace slide

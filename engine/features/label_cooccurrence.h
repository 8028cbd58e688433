// Which labels come with which: of each label those that its training samples have most often besides, and
// how often.
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
  static constexpr std::size_t kMax = 8;            // co-occurring labels of a label
  static constexpr std::uint32_t kMinTogether = 2;  // samples that have both
  static constexpr std::size_t kUnseen = 10;        // samples more that a label might have, alone
  // Labels of samples of a label that are looked at, at most, but for its first sample: of a label with more,
  // not all samples are, but some all over the data.
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 14;

  struct Cooccurring {
    std::uint32_t label;
    // P(label | the other) = samples with both / (samples with the other + kUnseen): little where few have
    // it.
    float probability;
  };

  LabelCooccurrence() = default;  // of no labels
  // The labels of sample i are those in [offsets[i], offsets[i + 1]), each once.
  LabelCooccurrence(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> labels);

  // Of a label, those that come with it, ascending.
  std::span<const Cooccurring> of(std::uint32_t label) const {
    if (label + std::size_t{1} >= offsets_.size()) return {};
    return std::span(cooccurrence_).subspan(offsets_[label], offsets_[label + 1] - offsets_[label]);
  }
  std::size_t bytes() const {
    return offsets_.size() * sizeof(offsets_[0]) + cooccurrence_.size() * sizeof(Cooccurring);
  }
  // Of so many labels, at most.
  static double bytes_of(double labels) {
    return labels * (sizeof(std::uint64_t) + kMax * sizeof(Cooccurring));
  }

 private:
  std::vector<std::uint64_t> offsets_;  // by label
  std::vector<Cooccurring> cooccurrence_;
};

}  // namespace slide

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

class LabelCompanions {
 public:
  static constexpr std::size_t kMost = 8;             // companions of a label
  static constexpr std::uint32_t kLeastTogether = 2;  // samples that have both
  static constexpr std::size_t kUnseen = 10;          // samples more that a label might have, alone
  // Labels of samples of a label that are looked at, at most, but for its first sample: of a label with more,
  // not all samples are, but some all over the data.
  static constexpr std::size_t kMostEntries = std::size_t{1} << 14;

  struct Companion {
    std::uint32_t label;
    // P(label | the other) = samples with both / (samples with the other + kUnseen): little where few have
    // it.
    float probability;
  };

  LabelCompanions() = default;  // of no labels
  // The labels of sample i are those in [offsets[i], offsets[i + 1]), each once.
  LabelCompanions(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> labels);

  // Of a label, those that come with it, ascending.
  std::span<const Companion> of(std::uint32_t label) const {
    if (label + std::size_t{1} >= offsets_.size()) return {};
    return std::span(companions_).subspan(offsets_[label], offsets_[label + 1] - offsets_[label]);
  }
  std::size_t bytes() const {
    return offsets_.size() * sizeof(offsets_[0]) + companions_.size() * sizeof(Companion);
  }
  // Of so many labels, at most.
  static double bytes_of(double labels) {
    return labels * (sizeof(std::uint64_t) + kMost * sizeof(Companion));
  }

 private:
  std::vector<std::uint64_t> offsets_;  // by label
  std::vector<Companion> companions_;
};

}  // namespace slide

#include "engine/statistics/label_cooccurrence.h"

#include <algorithm>
#include <utility>

#include "engine/statistics/samples_of_labels.h"

namespace slide {

namespace {

// Sampling step such that the inspected samples have at most kMaxEntries labels.
std::size_t step_of(std::span<const std::uint32_t> samples, std::span<const std::uint64_t> offsets) {
  std::size_t entries = 0;
  for (const std::uint32_t i : samples) entries += offsets[i + 1] - offsets[i];
  return (entries + LabelCooccurrence::kMaxEntries - 1) / LabelCooccurrence::kMaxEntries;
}

// Counts the samples that labels share, one label at a time. Sample i has the labels
// labels[offsets[i] .. offsets[i + 1]).
class SharedSamples {
 public:
  SharedSamples(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> labels,
                std::size_t label_count)
      : offsets_(offsets), labels_(labels), counts_(label_count, 0) {}

  // Appends the labels that occur most often in the `samples` of a label, ascending by id.
  void append_most_frequent(std::uint32_t label, std::span<const std::uint32_t> samples,
                            std::vector<LabelCooccurrence::Cooccurring>& to) {
    const std::size_t inspected = count_others(label, samples);
    const auto by_falling_count = [&](std::uint32_t other) {
      return std::pair(-std::int64_t{counts_[other]}, other);
    };
    const std::size_t kept = std::min(LabelCooccurrence::kMax, others_.size());
    const auto kept_end = others_.begin() + static_cast<std::ptrdiff_t>(kept);
    std::ranges::partial_sort(others_, kept_end, {}, by_falling_count);
    std::sort(others_.begin(), kept_end);
    for (std::size_t i = 0; i < others_.size(); ++i) {
      const double both = std::exchange(counts_[others_[i]], 0);
      const double smoothed = both / double(inspected + LabelCooccurrence::kUnseen);
      if (i < kept) to.push_back({others_[i], static_cast<float>(smoothed)});
    }
  }

 private:
  // Sets others_ to the labels with at least kMinTogether of the inspected samples, and counts_ to the
  // numbers of these samples; returns the number of inspected samples.
  std::size_t count_others(std::uint32_t label, std::span<const std::uint32_t> samples) {
    const std::size_t step = step_of(samples, offsets_);
    std::size_t inspected = 0;
    others_.clear();
    for (std::size_t s = 0; s < samples.size(); s += step, ++inspected) {
      for (std::uint64_t at = offsets_[samples[s]]; at < offsets_[samples[s] + std::size_t{1}]; ++at)
        if (counts_[labels_[at]]++ == 0) others_.push_back(labels_[at]);
    }
    std::erase_if(others_, [&](std::uint32_t other) {
      const bool drops = other == label || counts_[other] < LabelCooccurrence::kMinTogether;
      if (drops) counts_[other] = 0;
      return drops;
    });
    return inspected;
  }

  std::span<const std::uint64_t> offsets_;
  std::span<const std::uint32_t> labels_;
  std::vector<std::uint32_t> counts_;  // by label, 0 between calls
  std::vector<std::uint32_t> others_;
};

}  // namespace

// Label by label, from the samples of the label.
LabelCooccurrence::LabelCooccurrence(std::span<const std::uint64_t> offsets,
                                     std::span<const std::uint32_t> labels) {
  const std::size_t count = labels.empty() ? 0 : *std::ranges::max_element(labels) + std::size_t{1};
  const SamplesOfLabels by_label(offsets.size() - 1, count, [&](std::size_t i) {
    return labels.subspan(offsets[i], offsets[i + 1] - offsets[i]);
  });
  SharedSamples shared(offsets, labels, count);
  offsets_.assign(1, 0);
  offsets_.reserve(count + 1);
  for (std::uint32_t label = 0; label < count; ++label) {
    const auto samples = by_label.of(label);
    if (samples.size() >= kMinTogether) shared.append_most_frequent(label, samples, cooccurrence_);
    offsets_.push_back(cooccurrence_.size());
  }
  cooccurrence_.shrink_to_fit();
}

}  // namespace slide

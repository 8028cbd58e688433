#include "engine/statistics/label_cooccurrence.h"

#include <algorithm>
#include <utility>

#include "engine/statistics/samples_of_labels.h"

namespace slide {

namespace {

// Sampling step such that the inspected samples have at most kMaxEntries labels.
std::size_t step_of(std::span<const std::uint32_t> samples, std::span<const std::uint64_t> rows) {
  std::size_t entries = 0;
  for (const std::uint32_t i : samples) entries += rows[i + 1] - rows[i];
  return (entries + LabelCooccurrence::kMaxEntries - 1) / LabelCooccurrence::kMaxEntries;
}

}  // namespace

LabelCooccurrence::LabelCooccurrence(std::span<const std::uint64_t> offsets,
                                     std::span<const std::uint32_t> labels) {
  const std::size_t count = labels.empty() ? 0 : *std::ranges::max_element(labels) + std::size_t{1};
  const SamplesOfLabels by_label(offsets.size() - 1, count, [&](std::size_t i) {
    return labels.subspan(offsets[i], offsets[i + 1] - offsets[i]);
  });
  offsets_.assign(count + 1, 0);
  std::vector<std::uint32_t> together(count, 0), touched;
  for (std::size_t label = 0; label < count; ++label) {
    const auto samples = by_label.of(label);
    offsets_[label + 1] = cooccurrence_.size();
    if (samples.size() < kMinTogether) continue;
    const std::size_t step = step_of(samples, offsets);
    std::size_t seen = 0;
    touched.clear();
    for (std::size_t s = 0; s < samples.size(); s += step, ++seen) {
      for (std::uint64_t at = offsets[samples[s]]; at < offsets[samples[s] + std::size_t{1}]; ++at)
        if (together[labels[at]]++ == 0) touched.push_back(labels[at]);
    }
    const std::size_t first = cooccurrence_.size();
    const auto often = [&](std::uint32_t other) { return std::pair(-std::int64_t{together[other]}, other); };
    std::erase_if(touched, [&](std::uint32_t other) {
      const bool left_out = other == label || together[other] < kMinTogether;
      if (left_out) together[other] = 0;
      return left_out;
    });
    const std::size_t kept = std::min(kMax, touched.size());
    std::ranges::partial_sort(touched, touched.begin() + static_cast<std::ptrdiff_t>(kept), {}, often);
    for (std::size_t c = 0; c < touched.size(); ++c) {
      const double both = std::exchange(together[touched[c]], 0);
      if (c < kept) cooccurrence_.push_back({touched[c], static_cast<float>(both / double(seen + kUnseen))});
    }
    std::sort(cooccurrence_.begin() + static_cast<std::ptrdiff_t>(first), cooccurrence_.end(),
              [](const Cooccurring& a, const Cooccurring& b) { return a.label < b.label; });
    offsets_[label + 1] = cooccurrence_.size();
  }
  cooccurrence_.shrink_to_fit();
}

}  // namespace slide

#include "engine/features/near_misses.h"

#include <algorithm>
#include <cmath>

namespace slide {

NearMisses::NearMisses(const Dataset& train, const FeatureScale& scale)
    : train_(train),
      scale_(scale),
      samples_(train.feature_count() * kSamples),
      counts_(train.feature_count()) {
  std::vector<std::uint64_t> left(train.feature_count()), size;
  for (std::size_t i = 0; i < train.size(); ++i) {
    for (const std::uint32_t f : train.features(i).ids) ++left[f];
  }
  size = left;
  for (std::size_t i = 0; i < train.size(); ++i) {
    for (const std::uint32_t f : train.features(i).ids) {
      const std::uint64_t at = size[f] - left[f]--;  // among the samples of f
      if (counts_[f] == kSamples || at * kSamples < counts_[f] * size[f]) continue;
      samples_[f * kSamples + counts_[f]++] = static_cast<std::uint32_t>(i);
    }
  }
}

NearMisses::Scratch NearMisses::make_scratch() const {
  Scratch scratch;
  scratch.likeness.assign(train_.feature_count(), 0.0f);
  scratch.ids.resize(train_.feature_count() + 1);
  return scratch;
}

void NearMisses::find(std::uint32_t label, const LabelSums::Sum& sum, std::size_t wanted, Scratch& scratch,
                      std::vector<std::uint32_t>& out) const {
  if (wanted == 0) return;
  std::size_t count = 0;
  scratch.strongest = sum.ids;
  keep_strongest(scratch.strongest, kStrongest, sum.values);
  for (const std::uint32_t t : scratch.strongest) {
    for (std::size_t s = 0; s < counts_[t]; ++s) {
      const std::uint32_t sample = samples_[t * kSamples + s];
      const auto own = train_.labels(sample);
      if (std::binary_search(own.begin(), own.end(), label)) continue;
      scratch.scaled.clear();
      const SparseRow row = scale_.scaled(train_.features(sample), scratch.scaled);
      const auto at = std::lower_bound(row.ids.begin(), row.ids.end(), t) - row.ids.begin();
      const float shared = std::fabs(sum.values[t] * row.values[static_cast<std::size_t>(at)]);
      for (std::size_t i = 0; i < row.ids.size(); ++i) {
        const float more = shared * std::fabs(row.values[i]);
        const std::uint32_t id = row.ids[i];
        float& likeness = scratch.likeness[id];
        const float added = sum.listed[id] != 0 ? 0.0f : more;
        scratch.ids[count] = id;  // without a jump, which no processor would guess
        count += ((likeness == 0.0f) & (added > 0.0f)) ? 1 : 0;
        likeness += added;
      }
    }
  }
  std::vector<std::uint32_t>& found = scratch.strongest;
  found.assign(scratch.ids.begin(), scratch.ids.begin() + static_cast<std::ptrdiff_t>(count));
  keep_strongest(found, wanted, scratch.likeness);
  out.insert(out.end(), found.begin(), found.end());
  for (std::size_t i = 0; i < count; ++i) scratch.likeness[scratch.ids[i]] = 0.0f;
}

}  // namespace slide

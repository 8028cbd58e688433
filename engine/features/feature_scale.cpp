#include "engine/features/feature_scale.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "datasets/row_parser.h"

namespace slide {

FeatureScale::FeatureScale(const Dataset& train, double power, bool normalize) : normalize_(normalize) {
  if (power == 0) return;
  std::vector<std::uint32_t> frequencies(train.feature_count());
  for (std::size_t i = 0; i < train.size(); ++i) {
    for (const std::uint32_t id : train.features(i).ids) ++frequencies[id];
  }
  factors_.reserve(frequencies.size());
  const double samples = double(train.size());
  for (const double frequency : frequencies) {
    const double rarity = 1.0 + std::log((samples + 1.0) / (frequency + 1.0));
    factors_.push_back(static_cast<float>(std::pow(rarity, power)));
  }
}

bool FeatureScale::are_good(std::span<const float> factors) {
  return std::ranges::all_of(factors, [](float factor) { return std::isfinite(factor) && factor > 0; });
}

SparseRow FeatureScale::scaled(const SparseRow& row, std::vector<float>& values) const {
  if (!active()) return row;
  const std::size_t first = values.size(), count = row.ids.size();
  values.resize(first + count);
  float* own = values.data() + first;
  for (std::size_t i = 0; i < count; ++i) own[i] = row.values[i] * factors_[row.ids[i]];
  if (normalize_) scale_to_unit_length(own, count);
  return {row.ids, {own, count}};
}

}  // namespace slide

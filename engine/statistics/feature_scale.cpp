#include "engine/statistics/feature_scale.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "datasets/rows/row_parser.h"

namespace slide {

namespace {

// Document frequency of each feature.
std::vector<std::uint32_t> feature_frequencies(const Dataset& data) {
  std::vector<std::uint32_t> frequencies(data.feature_count());
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (const std::uint32_t id : data.features(i).ids) ++frequencies[id];
  }
  return frequencies;
}

// idf^power; `frequency`: samples with the feature.
float factor_of(double frequency, double samples, double power) {
  const double rarity = 1.0 + std::log((samples + 1.0) / (frequency + 1.0));
  return static_cast<float>(std::pow(rarity, power));
}

}  // namespace

FeatureScale::FeatureScale(const Dataset& train, double power, bool normalize) : normalize_(normalize) {
  if (power == 0) return;
  factors_.reserve(train.feature_count());
  for (const std::uint32_t frequency : feature_frequencies(train))
    factors_.push_back(factor_of(frequency, double(train.size()), power));
}

FeatureScale FeatureScale::grown(const IdGrowth& features, const Dataset& more, std::size_t samples,
                                 double power) const {
  if (!active()) return *this;
  const std::vector<std::uint32_t> frequencies = feature_frequencies(more);
  std::vector<float> factors;
  factors.reserve(features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    factors.push_back(features.was[f] != kNewId ? factors_[features.was[f]]
                                                : factor_of(frequencies[f], double(samples), power));
  }
  return FeatureScale(std::move(factors), normalize_);
}

bool FeatureScale::are_valid(std::span<const float> factors) {
  return std::ranges::all_of(factors, [](float factor) { return std::isfinite(factor) && factor > 0; });
}

// Scales and normalises the features that have factors; feature crosses, which follow them, are copied.
SparseRow FeatureScale::scaled(const SparseRow& row, std::vector<float>& values) const {
  if (!active()) return row;
  const std::size_t first = values.size(), count = row.ids.size();
  values.resize(first + count);
  float* own = values.data() + first;
  const std::size_t single = first_features(row, factors_.size()).ids.size();
  for (std::size_t i = 0; i < single; ++i) own[i] = row.values[i] * factors_[row.ids[i]];
  if (normalize_) scale_to_unit_length(own, single);
  std::copy(row.values.begin() + static_cast<std::ptrdiff_t>(single), row.values.end(), own + single);
  return {row.ids, {own, count}};
}

}  // namespace slide

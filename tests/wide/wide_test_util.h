// Random data and a configuration for tests of the linear term.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "datasets/rows/dataset.h"
#include "engine/base/rng.h"
#include "engine/config/config.h"

namespace slide::wide_test {

constexpr std::uint32_t kFeatures = 40;
constexpr std::uint32_t kLabels = 12;

inline Dataset random_data(std::size_t samples, std::uint32_t all_labels = kLabels) {
  Rng rng(5, Purpose::kTest);
  DatasetArrays arrays;
  for (std::size_t i = 0; i < samples; ++i) {
    std::set<std::uint32_t> ids, labels;
    while (ids.size() < 6)
      ids.insert(rng.below(kFeatures) * rng.below(kFeatures) / kFeatures);  // some are rare
    while (labels.size() < 2) labels.insert(rng.below(all_labels));
    for (const std::uint32_t id : ids) {
      arrays.feature_ids.push_back(id);
      arrays.feature_values.push_back(static_cast<float>(0.2 + rng.uniform()));
    }
    arrays.label_ids.insert(arrays.label_ids.end(), labels.begin(), labels.end());
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return Dataset(std::move(arrays), kFeatures, all_labels);
}

inline LayerConfig wide_config(std::uint32_t most) {
  LayerConfig config;
  config.wide = true;
  config.wide_features = most;
  config.wide_negatives = 0;
  config.wide_rate = 0.1;
  config.wide_scale = 3.0;
  config.wide_fit = 0.0;
  return config;
}

}  // namespace slide::wide_test

// The rows that a network is trained on: those of the data, and with their feature crosses, which hidden
// layers take. Wide path and neighbours take them as they are given. What has been found out about them once
// serves other trainings on the same rows.
//
// Immutable, safe to use from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "datasets/dataset.h"
#include "engine/config/config.h"
#include "engine/features/feature_crosses.h"

namespace slide {

struct TrainingRows {
  Dataset raw;  // as the data have them
  FeatureCrosses crosses;
  Dataset crossed;  // with them

  // Without pairs.
  TrainingRows(const Dataset& train) : raw(train), crossed(train) {}
  // With pairs that the samples choose as data.crosses says; none of interactions and of dense columns.
  TrainingRows(const Config& config, const Dataset& train, int threads);
  // With those there are.
  TrainingRows(FeatureCrosses chosen, const Dataset& train, int threads);

  // What features weigh where neighbours are looked for (Neighbours::Storage), once it has been learnt.
  std::shared_ptr<const std::vector<std::uint16_t>> feature_weights;

  double seconds = 0.0;           // that pairs took,
  double learning_seconds = 0.0;  // and the weights
};

}  // namespace slide

// The rows that a network is trained on: those of the data with their pairs of features.
//
// Immutable, safe to use from any thread.
#pragma once

#include "datasets/dataset.h"
#include "engine/config/config.h"
#include "engine/features/feature_pairs.h"

namespace slide {

struct TrainingRows {
  Dataset given;  // as the data have them
  FeaturePairs pairs;
  Dataset taken;  // as the network takes them, but for FeatureScale

  // With pairs that the samples choose as data.pairs says; none of interactions and of dense columns.
  TrainingRows(const Config& config, const Dataset& train, int threads);
  // With those there are.
  TrainingRows(FeaturePairs chosen, const Dataset& train, int threads);

  double seconds = 0.0;  // that this took
};

}  // namespace slide

// The training rows, without and with feature crosses. Hidden layers take the rows with crosses; the linear
// term and the kNN prediction take the raw rows.
//
// Immutable once built, then safe from any thread.
#pragma once

#include "datasets/rows/dataset.h"
#include "engine/config/config.h"
#include "engine/crosses/feature_crosses.h"
#include "engine/network/block_bounds.h"

namespace slide {

struct TrainingRows {
  Dataset raw;  // as in the data
  FeatureCrosses crosses;
  Dataset crossed;  // rows with crosses

  // No crosses.
  TrainingRows(const Dataset& train) : raw(train), crossed(train) {}
  // Chooses crosses from the samples as data.crosses says; none for interactions.
  TrainingRows(const Config& config, const Dataset& train, int threads);
  // Uses the given crosses.
  TrainingRows(FeatureCrosses chosen, const Dataset& train, int threads);

  double seconds = 0.0;  // time to choose and add crosses
};

// Bounds of a block are those of the rows with crosses, bounds of the whole data those of the raw rows, which
// the linear term and the kNN prediction keep. label_features: sum over the labels of the distinct features
// of their samples, at most `wide_features` each; extrapolated from evenly spaced labels where there are more
// than 2^24 (label, feature) pairs.
BlockBounds bounds_of(const TrainingRows& rows, std::size_t block_size, std::size_t wide_features);

}  // namespace slide

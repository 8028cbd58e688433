// The training rows, without and with feature crosses. Hidden layers take the rows with crosses; the linear
// term and the kNN prediction take the raw rows. Feature weights learnt once are cached here and serve later
// training runs on the same rows.
//
// Concurrent reads are safe; `feature_weights` and the seconds are written by the first training run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "datasets/dataset.h"
#include "engine/config/config.h"
#include "engine/features/feature_crosses.h"

namespace slide {

struct TrainingRows {
  Dataset raw;  // as in the data
  FeatureCrosses crosses;
  Dataset crossed;  // rows with crosses

  // No crosses.
  TrainingRows(const Dataset& train) : raw(train), crossed(train) {}
  // Chooses crosses from the samples as data.crosses says; none for interactions and for dense columns.
  TrainingRows(const Config& config, const Dataset& train, int threads);
  // Uses the given crosses.
  TrainingRows(FeatureCrosses chosen, const Dataset& train, int threads);

  // Learnt feature weights of the kNN prediction (Neighbours::Storage); null until they are learnt.
  std::shared_ptr<const std::vector<std::uint16_t>> feature_weights;

  double seconds = 0.0;           // time to choose and add crosses
  double learning_seconds = 0.0;  // time to learn feature weights
};

}  // namespace slide

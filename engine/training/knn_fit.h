// Fits the kNN prediction to the training samples: stores them and learns feature weights, or takes the
// feature weights that an earlier fit on the same rows learnt. Functions are safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/config/config.h"
#include "engine/knn/neighbours.h"
#include "engine/statistics/feature_scale.h"

namespace slide {

// Learnt feature weights (Neighbours::Storage::feature_weights) and the seconds that this took.
struct LearntWeights {
  std::vector<std::uint16_t> weights;
  double seconds = 0.0;
};

struct KnnFit {
  Neighbours neighbours;
  std::shared_ptr<const LearntWeights> learnt;  // null where no weights are learnt
};

// `known`: weights learnt before from the same rows and scale, or null.
KnnFit fit_neighbours(const NeighbourConfig& config, const Dataset& rows, const FeatureScale& scale,
                      std::shared_ptr<const LearntWeights> known, int threads);

}  // namespace slide

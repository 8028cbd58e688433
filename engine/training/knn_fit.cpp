#include "engine/training/knn_fit.h"

#include <chrono>
#include <utility>

#include "engine/base/phases.h"
#include "engine/knn/feature_weight_learning.h"

namespace slide {

// With weights that were learnt before, nothing is learnt.
KnnFit fit_neighbours(const NeighbourConfig& config, const Dataset& rows, const FeatureScale& scale,
                      std::shared_ptr<const LearntWeights> known, int threads) {
  KnnFit fit{Neighbours(config, rows, scale, threads), nullptr};
  if (!fit.neighbours.learns()) return fit;
  if (known != nullptr) {
    fit.neighbours.set_feature_weights(known->weights, threads);
    fit.learnt = std::move(known);
    return fit;
  }
  const auto start = std::chrono::steady_clock::now();
  learn_feature_weights(fit.neighbours, threads);
  LearntWeights learnt{fit.neighbours.storage().feature_weights, 0.0};
  learnt.seconds = seconds_since(start);
  fit.learnt = std::make_shared<const LearntWeights>(std::move(learnt));
  return fit;
}

}  // namespace slide

// What a model multiplies the values of its features by: a power of their rarity in the training data.
//
// With df of n training samples having a feature, its rarity is 1 + ln((n + 1) / (df + 1)): 1 for a feature
// that all samples have, most for one that none has. The factors belong to the model, not to the data: rows
// are scaled on their way into a network, in training as in use. Immutable, safe to use from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "datasets/dataset.h"
#include "engine/features/growth.h"

namespace slide {

class FeatureScale {
 public:
  // Rows stay as they are.
  FeatureScale() = default;
  // Rarity in `train` to the power of `power`; rows stay as they are when it is 0. `normalize`: rows get unit
  // length again.
  FeatureScale(const Dataset& train, double power, bool normalize);
  // The factors of a model file, one a feature.
  FeatureScale(std::vector<float> factors, bool normalize)
      : factors_(std::move(factors)), normalize_(normalize) {}

  // The same factors, and behind them or between them those of new features, by their rarity in `more` among
  // `samples` samples in all.
  FeatureScale grown(const IdGrowth& features, const Dataset& more, std::size_t samples, double power) const;

  // Whether factors from a file can be such.
  static bool are_good(std::span<const float> factors);

  bool active() const { return !factors_.empty(); }
  std::span<const float> factors() const { return factors_; }  // by feature; empty when not active

  // The row as a network takes it. Its values, if they differ, are appended to `values`, and the row is good
  // as long as they do not move. What lies behind the features that have factors, feature crosses, stays.
  SparseRow scaled(const SparseRow& row, std::vector<float>& values) const;

 private:
  std::vector<float> factors_;
  bool normalize_ = false;
};

}  // namespace slide

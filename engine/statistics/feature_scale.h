// Feature scaling by a power of the smoothed inverse document frequency (idf).
//
// With df of n training samples that have a feature, idf = 1 + ln((n + 1) / (df + 1)): 1 for a feature of all
// samples, largest for a feature of none. The factors belong to the model: rows are scaled when they enter a
// network, in training and at inference. Immutable, safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/statistics/growth.h"

namespace slide {

class FeatureScale {
 public:
  // No scaling.
  FeatureScale() = default;
  // Factors idf^power from `train`; no scaling where `power` is 0. `normalize`: rescales each row to unit
  // length.
  FeatureScale(const Dataset& train, double power, bool normalize);
  // Factors of a model file, one per feature.
  FeatureScale(std::vector<float> factors, bool normalize)
      : factors_(std::move(factors)), normalize_(normalize) {}

  // Keeps the factors of known features and adds factors of new features, from their document frequency in
  // `more` among `samples` samples in total.
  FeatureScale grown(const IdGrowth& features, const Dataset& more, std::size_t samples, double power) const;

  // The same with other factors, one per feature.
  FeatureScale with_factors(std::vector<float> factors) const { return {std::move(factors), normalize_}; }

  // Returns whether factors read from a file are valid.
  static bool are_valid(std::span<const float> factors);

  bool active() const { return !factors_.empty(); }
  std::span<const float> factors() const { return factors_; }  // by feature; empty when not active

  // Returns the row as the network takes it. Scaled values are appended to `values`; the result is valid
  // while `values` does not reallocate. Ids beyond the factors (feature crosses) stay unscaled.
  SparseRow scaled(const SparseRow& row, std::vector<float>& values) const;

 private:
  std::vector<float> factors_;
  bool normalize_ = false;
};

}  // namespace slide

#include "datasets/sample_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "datasets/split.h"
#include "engine/base/error.h"

namespace slide {

namespace {

// Rows, and weights of them.
struct WeightedStorage {
  Dataset rows;
  std::vector<float> weights;
};

}  // namespace

Dataset weighted_rows(const Dataset& data, std::span<const float> weights) {
  if (weights.size() != data.size())
    fail_input("weights: there are {} for {} samples", weights.size(), data.size());
  const auto at =
      std::ranges::find_if(weights, [](float weight) { return !(weight >= 0) || std::isinf(weight); });
  if (at != weights.end()) {
    fail_input("weights: that of sample {} is {}; give numbers that are not negative", at - weights.begin(),
               *at);
  }
  std::vector<std::uint32_t> kept;
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    kept.push_back(static_cast<std::uint32_t>(i));
    sum += weights[i];
  }
  if (kept.empty()) fail_input("weights: all are 0; give some samples one");
  const auto storage = std::make_shared<WeightedStorage>();
  for (const std::uint32_t i : kept)
    storage->weights.push_back(static_cast<float>(weights[i] * double(kept.size()) / sum));
  storage->rows = kept.size() == data.size() ? data : copy_rows(data, kept);
  DatasetView view = storage->rows.view();
  view.weights = storage->weights;
  return Dataset(storage, view, data.feature_count(), data.label_count());
}

}  // namespace slide

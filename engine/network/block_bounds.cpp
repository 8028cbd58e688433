#include "engine/network/block_bounds.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace slide {

namespace {

// Sum of the `n` largest counts: no block of n samples has more.
std::size_t sum_of_largest(std::vector<std::size_t>& counts, std::size_t n) {
  n = std::min(n, counts.size());
  std::nth_element(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n), counts.end(),
                   std::greater<>());
  return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n), std::size_t{0});
}

}  // namespace

// Any block has at most the sum of the `block_size` largest counts.
BlockBounds bounds_of(const Dataset& data, std::size_t block_size) {
  std::vector<std::size_t> features(data.size()), labels(data.size());
  std::size_t pairs = 0, shared = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    features[i] = data.features(i).ids.size();
    labels[i] = data.labels(i).size();
    pairs += features[i] * labels[i];
    shared += std::min(features[i], BlockBounds::kMaxShared);
  }
  BlockBounds bounds;
  bounds.feature_entries = sum_of_largest(features, block_size);
  bounds.label_entries = sum_of_largest(labels, block_size);
  bounds.label_features = pairs;
  bounds.samples = bounds.rows = data.size();
  bounds.all_features = data.feature_entries();
  bounds.all_labels = data.label_entries();
  bounds.dense = data.dense_count();
  bounds.all_shared = shared;
  return bounds;
}

}  // namespace slide

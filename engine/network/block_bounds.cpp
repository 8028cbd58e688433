#include "engine/network/block_bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/features/feature_weight_learning.h"
#include "engine/features/samples_of_labels.h"

namespace slide {

namespace {

std::size_t sum_of_largest(std::vector<std::size_t>& counts, std::size_t n) {
  n = std::min(n, counts.size());
  std::nth_element(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n), counts.end(),
                   std::greater<>());
  return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n), std::size_t{0});
}

}  // namespace

BlockBounds bounds_of(const Dataset& data, std::size_t block_size) {
  std::vector<std::size_t> features(data.size()), labels(data.size());
  std::size_t pairs = 0, shared = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    features[i] = data.features(i).ids.size();
    labels[i] = data.labels(i).size();
    pairs += features[i] * labels[i];
    shared += std::min(features[i], FeatureWeightLearning::kMaxShared / FeatureWeightLearning::kNearest);
  }
  return {sum_of_largest(features, block_size),
          sum_of_largest(labels, block_size),
          pairs,
          data.size(),
          data.feature_entries(),
          data.label_entries(),
          data.dense_count(),
          shared};
}

namespace {

constexpr std::size_t kCountedPairs = std::size_t{1} << 24;  // a few hundredths of a second

// `pairs`: labels times features of each sample, summed.
std::size_t distinct_label_features(const Dataset& data, std::size_t a_label, std::size_t pairs) {
  const SamplesOfLabels samples(data.size(), data.label_count(),
                                [&](std::size_t i) { return data.labels(i); });
  const std::size_t step = pairs / kCountedPairs + 1;
  std::vector<std::uint64_t> last(data.feature_count(), 0);  // by feature: 1 + the label that had it last
  double counted = 0, distinct = 0;
  for (std::size_t label = step / 2; label < data.label_count(); label += step) {
    std::size_t own = 0;
    for (const std::uint32_t sample : samples.of(label)) {
      const auto ids = data.features(sample).ids;
      counted += double(ids.size());
      for (const std::uint32_t id : ids) own += std::exchange(last[id], label + 1) != label + 1 ? 1 : 0;
    }
    distinct += double(std::min(own, a_label));
  }
  return counted == 0 ? pairs : static_cast<std::size_t>(std::ceil(distinct / counted * double(pairs)));
}

}  // namespace

BlockBounds bounds_of(const TrainingRows& rows, std::size_t block_size, std::size_t wide_features) {
  BlockBounds bounds = bounds_of(rows.raw, block_size);
  bounds.label_features = distinct_label_features(rows.raw, wide_features, bounds.label_features);
  if (rows.crosses.active()) bounds.feature_entries = bounds_of(rows.crossed, block_size).feature_entries;
  return bounds;
}

}  // namespace slide

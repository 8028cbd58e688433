#include "engine/knn/training_rows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/base/phases.h"
#include "engine/knn/feature_weight_learning.h"
#include "engine/statistics/samples_of_labels.h"

namespace slide {

namespace {

FeatureCrosses chosen_crosses(const Config& config, const Dataset& train, int threads) {
  if (config.data.crosses == 0 || config.data.kind == DataKind::kInteractions) return {};
  return FeatureCrosses::choose(train, config.data.crosses, threads);
}

}  // namespace

TrainingRows::TrainingRows(const Config& config, const Dataset& train, int threads) : raw(train) {
  const auto start = std::chrono::steady_clock::now();
  crosses = chosen_crosses(config, train, threads);
  crossed = crosses.crossed(train, threads);
  seconds = seconds_since(start);
}

TrainingRows::TrainingRows(FeatureCrosses chosen, const Dataset& train, int threads)
    : raw(train), crosses(std::move(chosen)) {
  const auto start = std::chrono::steady_clock::now();
  crossed = crosses.crossed(train, threads);
  seconds = seconds_since(start);
}

namespace {

static_assert(BlockBounds::kMaxShared == FeatureWeightLearning::kMaxShared / FeatureWeightLearning::kNearest);
constexpr std::size_t kCountedPairs = std::size_t{1} << 24;  // a few hundredths of a second

// Estimates the sum over labels of min(distinct features of its samples, per_label), from evenly spaced
// labels. `pairs`: the sum over samples of labels * features; it is returned where ids are so sparse that
// marks for them would need more memory than the data.
std::size_t distinct_label_features(const Dataset& data, std::size_t per_label, std::size_t pairs) {
  constexpr std::size_t kMarks = std::size_t{1} << 22;
  if (data.feature_count() > data.feature_entries() + kMarks) return pairs;
  if (data.label_count() > data.label_entries() + kMarks) return pairs;
  const SamplesOfLabels samples(data.size(), data.label_count(),
                                [&](std::size_t i) { return data.labels(i); });
  const std::size_t step = pairs / kCountedPairs + 1;
  std::vector<std::uint64_t> last(data.feature_count(), 0);  // by feature: 1 + the label that had it last
  double counted = 0, distinct = 0;
  for (std::size_t label = step / 2; label < data.label_count(); label += step) {
    std::size_t of_label = 0;
    for (const std::uint32_t sample : samples.of(label)) {
      const auto ids = data.features(sample).ids;
      counted += double(ids.size());
      for (const std::uint32_t id : ids) of_label += std::exchange(last[id], label + 1) != label + 1 ? 1 : 0;
    }
    distinct += double(std::min(of_label, per_label));
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

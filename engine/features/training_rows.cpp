#include "engine/features/training_rows.h"

#include <chrono>
#include <utility>

#include "engine/base/phases.h"

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

BlockBounds bounds_of(const TrainingRows& rows, std::size_t block_size) {
  BlockBounds bounds = bounds_of(rows.raw, block_size);
  if (rows.crosses.active()) bounds.feature_entries = bounds_of(rows.crossed, block_size).feature_entries;
  return bounds;
}

}  // namespace slide

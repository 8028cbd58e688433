#include "engine/features/training_rows.h"

#include <chrono>
#include <utility>

#include "engine/base/phases.h"

namespace slide {

namespace {

FeaturePairs chosen_pairs(const Config& config, const Dataset& train, int threads) {
  if (config.data.pairs == 0 || config.data.kind == DataKind::kInteractions) return {};
  return FeaturePairs::choose(train, config.data.pairs, threads);
}

}  // namespace

TrainingRows::TrainingRows(const Config& config, const Dataset& train, int threads) : given(train) {
  const auto start = std::chrono::steady_clock::now();
  pairs = chosen_pairs(config, train, threads);
  taken = pairs.paired(train, threads);
  seconds = seconds_since(start);
}

TrainingRows::TrainingRows(FeaturePairs chosen, const Dataset& train, int threads)
    : given(train), pairs(std::move(chosen)) {
  const auto start = std::chrono::steady_clock::now();
  taken = pairs.paired(train, threads);
  seconds = seconds_since(start);
}

}  // namespace slide

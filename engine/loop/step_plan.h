// How far a run is, in steps, and the learning rate that follows from it. Plain value.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/config/config.h"
#include "engine/network/optimizer.h"

namespace slide {

// Epochs over which the learning rate decays. With train.patience, train.epochs is only a bound: a decay over
// all of them would keep the learning rate high until early stopping. Instead it decays over twice the
// patience, but at least over the default number of epochs.
inline std::uint32_t decay_epochs(const TrainConfig& train) {
  if (train.patience == 0 || train.eval_every == 0) return train.epochs;
  const std::uint64_t twice_patience = 2 * std::uint64_t{train.patience} * train.eval_every;
  const auto epochs = std::max<std::uint64_t>(twice_patience, TrainConfig{}.epochs);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(epochs, train.epochs));
}

struct StepPlan {
  std::uint64_t before = 0;  // steps of earlier runs that this one continues
  std::uint64_t total = 0;   // of this run
  std::uint64_t decay_steps =
      0;                   // over which the learning rate decays; may be below `total` with train.patience
  std::uint64_t done = 0;  // of this run

  static StepPlan of(const TrainConfig& train, std::uint64_t epoch_steps, std::uint64_t before) {
    return {before, train.epochs * epoch_steps, decay_epochs(train) * epoch_steps};
  }
  std::uint64_t all() const { return before + done; }  // keys the random numbers of the next step

  // Learning rate of the next step; after the decay it stays at kMinRate of optimizer.learning_rate.
  double rate(const Optimizer& optimizer, const OptimizerConfig& config) const {
    constexpr double kMinRate = 0.05;
    const double rate = optimizer.rate_at(done, decay_steps);
    if (decay_steps == total || done < config.warmup_steps) return rate;
    return std::max(rate, kMinRate * config.learning_rate);
  }
};

}  // namespace slide

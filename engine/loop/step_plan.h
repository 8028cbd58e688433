// How far a run is, in steps, and the learning rate that follows from it. Plain value.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/config/config.h"
#include "engine/network/optimizer.h"

namespace slide {

// Epochs over which the learning rate falls. With train.patience, train.epochs is only a bound: a fall over
// so many epochs would keep the rate high until the patience ends, and what a high rate learns last is noise.
// The rate then falls over twice the patience, but at least over the default number of epochs.
inline std::uint32_t epochs_of_fall(const TrainConfig& train) {
  if (train.patience == 0 || train.eval_every == 0) return train.epochs;
  const std::uint64_t patient = 2 * std::uint64_t{train.patience} * train.eval_every;
  const auto epochs = std::max<std::uint64_t>(patient, TrainConfig{}.epochs);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(epochs, train.epochs));
}

struct StepPlan {
  std::uint64_t before = 0;  // steps of earlier runs that this one continues
  std::uint64_t total = 0;   // of this run
  std::uint64_t fall = 0;    // over which the learning rate falls; less than `total` with train.patience
  std::uint64_t done = 0;

  static StepPlan of(const TrainConfig& train, std::uint64_t epoch_steps, std::uint64_t before) {
    return {before, train.epochs * epoch_steps, epochs_of_fall(train) * epoch_steps};
  }
  std::uint64_t all() const { return before + done; }  // keys the random numbers of the next step

  // Learning rate of the next step. Where training goes on after the fall, it stays at kMinRate of the first.
  double rate(const Optimizer& optimizer, const OptimizerConfig& config) const {
    constexpr double kMinRate = 0.05;
    const double rate = optimizer.rate_at(done, fall);
    if (fall == total || done < config.warmup_steps) return rate;
    return std::max(rate, kMinRate * config.learning_rate);
  }
};

}  // namespace slide

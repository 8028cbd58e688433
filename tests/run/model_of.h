// A model in memory, as if read from a file.
#pragma once

#include <utility>

#include "engine/model/model.h"
#include "engine/training/trainer.h"

namespace slide::test {

inline Model model_of(const Config& config, const Dataset& train) {
  Trainer trainer(fresh_job(config, train));
  trainer.run({});
  DataShape shape = trainer.shape();
  const std::uint64_t steps = trainer.steps();
  TrainedModel trained = std::move(trainer).release();
  return {.config = config,
          .shape = std::move(shape),
          .steps = steps,
          .has_optimizer_state = true,
          .hashes = {},
          .network = std::move(trained.network),
          .optimizer = std::move(trained.optimizer),
          .neighbours = std::move(trained.neighbours),
          .text = nullptr,
          .unseen_runs = {},
          .thresholds = {},
          .calibration = {},
          .checksum = 0,
          .bytes = {},
          .notes = {}};
}

}  // namespace slide::test

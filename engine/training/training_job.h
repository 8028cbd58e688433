// A training job: everything that a Trainer needs to know, put together once. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "datasets/rows/dataset.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/knn/neighbours.h"
#include "engine/knn/training_rows.h"
#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"
#include "engine/training/knn_fit.h"

namespace slide {

// State at which the training of a model continues with other samples.
struct TrainedStart {
  DataShape shape;                          // of all samples so far, the new ones among them
  Network network;                          // with its tables, of the job's configuration
  std::optional<OptimizerState> optimizer;  // nullopt: as at the beginning
  std::optional<Neighbours> neighbours;     // of all samples so far
  std::uint64_t steps = 0;                  // so far
};

// How a job starts.
struct FreshStart {
  std::shared_ptr<const LearntWeights> known = nullptr;  // feature weights learnt before from the same rows
};
// A run of its own, with its own epochs and schedule, and random streams that earlier runs have not used. The
// rows have no additional features or labels.
struct ContinuedStart {
  TrainedStart from;
};
// A stopped run, whose checkpoint Trainer::load() restores.
struct ResumedStart {
  std::size_t step_samples = 0;         // samples of a full step, as the checkpoint recorded
  std::optional<TrainedStart> begun{};  // set where the stopped run had continued a model
};
using JobStart = std::variant<FreshStart, ContinuedStart, ResumedStart>;

// Data sets to evaluate on after an epoch; they must outlive the job. Both may be nullptr.
struct EvaluationData {
  const Dataset* test = nullptr;
  // Not part of the training rows: their score finds the best model and ends the run early (train.patience).
  const Dataset* validation = nullptr;
};

struct TrainingJob {
  Config config;  // effective (engine/config/effective.h)
  TrainingRows rows;
  JobStart start = FreshStart();
  int threads = 1;
  EvaluationData evaluation = {};
  // The processes that train the network together, with the same configuration and data; all make the same
  // calls. nullptr for a single process. It must outlive the job.
  Cluster* cluster = nullptr;
};

// A fresh run of one process on `train`, from which feature crosses are chosen, with train.threads threads.
TrainingJob fresh_job(const Config& config, const Dataset& train, const Dataset* test = nullptr);
// The job of a stopped run with steps of `step_samples` samples.
TrainingJob resumed_job(const Config& config, const Dataset& train, std::size_t step_samples);

}  // namespace slide

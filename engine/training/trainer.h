// Trains a model by a job: the training loop, and beside it what the loop does not know: the choice of its
// samples, the kNN prediction, and evaluation after an epoch with early stopping.
//
// One thread calls it; it uses TrainingJob::threads threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "engine/base/byte_io.h"
#include "engine/loop/training_loop.h"
#include "engine/training/evaluator.h"
#include "engine/training/training_job.h"

namespace slide {

struct TrainObserver : LoopObserver {
  std::function<void(const EvalReport&)> eval;                             // empty: no evaluation
  std::function<void(std::size_t done, std::size_t all)> evaluating = {};  // samples, from any thread
};

// Result of training.
struct TrainedModel {
  Network network;
  std::optional<Neighbours> neighbours;  // see Trainer::neighbours
  OptimizerState optimizer;
};

class Trainer {
 public:
  // Allocates everything that training needs. A fresh start initialises the network and fits the kNN
  // prediction.
  explicit Trainer(TrainingJob job);

  // Trains all epochs, or what is left of them, or until train.patience ends the run; evaluates after epochs
  // as eval_every says. Returns false where the observer stopped the run; of several processes, where any
  // observer did (StepReport::stop_agreed). Throws Error where the loss is no longer a number. The time of
  // the observer's `step` is no training time.
  bool run(const TrainObserver& observer);

  // See TrainingLoop.
  double step(std::size_t first, std::size_t count) { return loop_.step(first, count); }
  void save(ByteWriter& out) const { loop_.save(out); }
  void load(ByteReader& in) { loop_.load(in); }

  // Ends training: returns the model and frees all else. Call nothing else afterwards.
  TrainedModel release() &&;

  const Network& network() const { return loop_.network(); }
  Network& network() { return loop_.network(); }
  const NetworkTraining& training() const { return loop_.training(); }
  // The training samples that vote at inference; nullptr without neighbours.share. No step uses them.
  const Neighbours* neighbours() const { return neighbours_ ? &*neighbours_ : nullptr; }
  // Their feature weights, where they were learnt in a fresh start.
  const std::shared_ptr<const LearntWeights>& learnt_weights() const { return learnt_; }
  TrainedNetwork trained() const { return {network(), neighbours(), shape_}; }
  const DataShape& shape() const { return shape_; }
  const LabelGroups& label_groups() const { return evaluator_.label_groups(); }
  Cluster* cluster() const { return job_.cluster; }
  const Dataset& crossed_rows() const { return job_.rows.crossed; }  // training rows with feature crosses

  // Samples of an epoch; label texts among the training rows, which come in addition; and samples that are
  // skipped: without a label, or of interactions with fewer than two items unless all
  // have.
  std::size_t labelled() const;
  std::size_t texts() const { return loop_.source().samples().size() - labelled(); }
  std::size_t unlabelled() const { return job_.rows.raw.samples() - labelled(); }

  std::size_t batch_samples() const { return loop_.batch_samples(); }  // of a full step
  std::uint64_t steps() const { return loop_.steps().done; }
  std::uint64_t all_steps() const { return loop_.steps().all(); }  // with those of earlier runs
  std::uint64_t total_steps() const { return loop_.steps().total; }

 private:
  // Returns seconds of work that the start takes over from earlier jobs.
  double fit_neighbours();
  bool evaluate(const TrainingLoop::EpochEnd& end, const TrainObserver& observer);
  EvalReport evaluate_on(const Dataset& data, const TrainingLoop::EpochEnd& end,
                         const TrainObserver& observer) const;

  std::chrono::steady_clock::time_point began_;
  TrainingJob job_;  // its start is spent
  DataShape shape_;
  TrainingLoop loop_;
  std::optional<Neighbours> neighbours_;
  std::shared_ptr<const LearntWeights> learnt_;
  Evaluator evaluator_;
};

}  // namespace slide

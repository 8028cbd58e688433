// Trains a model as a TrainingJob says. Adds to the training loop (TrainingLoop) the source of its samples,
// the kNN prediction, evaluation after an epoch, and early stopping.
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
#include "engine/wide/margin_choice.h"

namespace slide {

struct TrainObserver : LoopObserver {
  std::function<void(const EvalReport&)> eval;  // of each evaluation; empty: nothing is evaluated
  // Progress of an evaluation, in samples; called from any thread.
  std::function<void(std::size_t done, std::size_t all)> evaluating = {};
};

struct TrainedModel {
  Network network;
  std::optional<Neighbours> neighbours;  // as Trainer::neighbours()
  OptimizerState optimizer;
};

class Trainer {
 public:
  // Allocates all memory of training. Without a model to continue, it initialises the network and fits the
  // kNN prediction.
  explicit Trainer(TrainingJob job);

  // Trains the epochs that are left, or until train.patience ends the run. Evaluates after every
  // train.eval_every epochs and after the last. Returns false where the observer of any process stopped the
  // run (StepReport::stop_agreed). Throws Error where the loss is not finite. Training time does not include
  // the observer's `step`.
  bool run(const TrainObserver& observer);

  // See TrainingLoop.
  double step(std::size_t first, std::size_t count) { return loop_.step(first, count); }
  void save(ByteWriter& out) const { loop_.save(out); }
  void load(ByteReader& in) { loop_.load(in); }

  // Ends training and returns the model. Call nothing else afterwards.
  TrainedModel release() &&;

  const Network& network() const { return loop_.network(); }
  Network& network() { return loop_.network(); }
  const NetworkTraining& training() const { return loop_.training(); }
  // The kNN prediction, which training uses for margin_evidence() alone; nullptr without neighbours.share.
  const Neighbours* neighbours() const { return neighbours_ ? &*neighbours_ : nullptr; }
  // The feature weights of the kNN prediction, where this job has learnt or reused some; else nullptr.
  const std::shared_ptr<const LearntWeights>& learnt_weights() const { return learnt_; }
  // Evidence for or against label margins, where layer.-1.wide_margin is auto; else without samples.
  const MarginEvidence& margin_evidence() const { return margin_evidence_; }
  TrainedNetwork trained() const { return {network(), neighbours(), shape_}; }
  const DataShape& shape() const { return shape_; }
  const LabelGroups& label_groups() const { return evaluator_.label_groups(); }
  Cluster* cluster() const { return job_.cluster; }
  const Dataset& crossed_rows() const { return job_.rows.crossed; }  // training rows with feature crosses

  // An epoch trains on labelled() samples and texts() label texts. It skips unlabelled() samples: those
  // without a label or of weight 0; of interactions, those that users_to_mask() leaves out.
  std::size_t labelled() const;
  std::size_t texts() const { return loop_.source().samples().size() - labelled(); }
  std::size_t unlabelled() const { return job_.rows.raw.samples() - labelled(); }

  std::size_t batch_samples() const { return loop_.batch_samples(); }  // of a full step
  std::uint64_t steps() const { return loop_.steps().done; }           // of this run so far,
  std::uint64_t total_steps() const { return loop_.steps().total; }    // and in all its epochs
  // Steps so far of this run and the runs that it continues.
  std::uint64_t all_steps() const { return loop_.steps().all(); }

 private:
  // Returns the seconds that an earlier job took to learn the feature weights, where this one reuses them;
  // else 0.
  double fit_neighbours();
  void fit_margins();
  bool evaluate(const TrainingLoop::EpochEnd& end, const TrainObserver& observer);
  EvalReport evaluate_on(const Dataset& data, const TrainingLoop::EpochEnd& end,
                         const TrainObserver& observer) const;

  std::chrono::steady_clock::time_point began_;
  TrainingJob job_;  // job_.start is moved from
  DataShape shape_;
  OutputInit output_init_;  // of a job that does not continue a model
  TrainingLoop loop_;
  std::optional<Neighbours> neighbours_;
  std::shared_ptr<const LearntWeights> learnt_;
  MarginEvidence margin_evidence_;
  Evaluator evaluator_;
};

}  // namespace slide

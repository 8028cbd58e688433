// The training loop: read this first.
//
// A step takes the next batch, in blocks. Phase A runs parts of the blocks in parallel and only reads
// weights; phase B runs the shards of touched rows in parallel and each row is written by the one shard that
// owns it; phase C moves touched rows in the hash tables when the schedule says so. Results depend on the
// seed and the samples in a step only, not on timing, the number of threads or which of them did what.
//
// Of interactions (data.kind), a sample of an epoch is a user of whose items some are shown as features and
// the others asked for as labels (engine/features/item_draw.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/byte_io.h"
#include "engine/base/phases.h"
#include "engine/config/config.h"
#include "engine/features/item_draw.h"
#include "engine/features/training_rows.h"
#include "engine/inference/inference.h"
#include "engine/inference/metrics.h"
#include "engine/network/network.h"
#include "engine/network/network_training.h"
#include "engine/network/optimizer.h"
#include "engine/training/schedule.h"

namespace slide {

// How well the hash tables of the output layer do.
struct TableHealth {
  std::optional<double> recall;  // share found of the neurons that fire most for a few samples
  double in_full = 0.0;          // share of the neurons in full buckets
  double largest = 0.0;          // and in the largest bucket of a table
};

struct EpochReport {
  std::uint32_t epoch = 0;       // from 1
  std::uint64_t step = 0;        // steps so far
  double loss = 0.0;             // mean over the epoch's samples
  double train_seconds = 0.0;    // so far: everything but loading and evaluation
  PhaseSeconds phases;           // of these
  double active_mean = 0.0;      // neurons of the output layer active for a sample, mean over the epoch
  double active_fraction = 0.0;  // of the output layer's neurons
  std::optional<ActiveSources> sources;  // of a sampled one, active for a sample by what chose them
  std::optional<TableHealth> tables;     // of its hash tables
  double samples_per_second = 0.0;       // over the epoch
  std::uint64_t samples = 0;             // trained on so far, in all epochs
  int ranks = 1;                         // processes; of several, what this one has
  Cluster::Traffic traffic;              // exchanged with the others so far
};

struct EvalReport {
  std::uint32_t epoch = 0;
  double train_seconds = 0.0;
  double eval_seconds = 0.0;
  std::uint64_t samples = 0;  // trained on so far, in all epochs
  Metrics metrics;
  bool validation = false;  // on the validation samples, else on the test samples
  bool best = false;        // validation: the best so far
};

// The hash tables of one layer after an epoch.
struct TablesReport {
  std::uint32_t epoch = 0;
  std::uint64_t samples = 0;  // trained on so far, in all epochs
  std::size_t layer = 0;      // as the configuration counts
  lsh::Occupancy occupancy;
};

// After each step.
struct StepReport {
  std::uint32_t epoch = 0;        // from 1
  std::uint64_t step = 0;         // steps so far
  std::uint64_t total_steps = 0;  // of the whole run
  std::size_t samples = 0;        // of this epoch so far
  double loss = 0.0;              // mean over them
  double active_mean = 0.0;       // likewise
  double seconds = 0.0;           // in this epoch so far
  bool stop_agreed = false;       // some process wanted to stop at the last step, and all do at this
};

struct TrainObserver {
  std::function<bool(const StepReport&)> step;  // false: stop here
  std::function<void(const EpochReport&)> epoch;
  std::function<void(const EvalReport&)> eval;
  std::function<void(const TablesReport&)> tables;
  std::function<void(std::size_t done, std::size_t all)> evaluating;  // samples, from any thread
};

// What training leaves.
struct TrainedModel {
  Network network;
  std::optional<Neighbours> neighbours;  // see Trainer::neighbours
  OptimizerState optimizer;
};

// Start state of continued training with other samples.
struct TrainedStart {
  DataShape shape;                          // of all samples so far, the new ones among them
  Network network;                          // with its tables
  std::optional<OptimizerState> optimizer;  // or as at the beginning
  std::optional<Neighbours> neighbours;     // of all samples so far
  std::uint64_t steps = 0;                  // so far
};

class Trainer {
 public:
  // `test` may be nullptr. All data sets must outlive the trainer. Allocates everything that training needs.
  // `step_samples`: samples in a full step of a run that goes on; 0 = as configured. `validation`: samples,
  // not part of `train`, on which the mean of P@k over eval.k tells the best model and when to stop; or
  // nullptr. `cluster`: of the processes that train the network together, each with the same configuration
  // and data and all making the same calls; nullptr where there is one. It must outlive the trainer.
  Trainer(const Config& config, const Dataset& train, const Dataset* test, std::size_t step_samples = 0,
          const Dataset* validation = nullptr, Cluster* cluster = nullptr);
  // The same of rows that have chosen their pairs.
  Trainer(const Config& config, TrainingRows train, const Dataset* test, std::size_t step_samples,
          const Dataset* validation, Cluster* cluster);

  // Continues training of a network with samples of the same number of features, no additional labels, and
  // its crosses: a run of its own, with its own epochs and schedule, and other random streams than the runs
  // before it.
  Trainer(const Config& config, const Dataset& train, TrainedStart start, const Dataset* test = nullptr,
          std::size_t step_samples = 0, const Dataset* validation = nullptr);
  Trainer(const Config& config, TrainingRows train, TrainedStart start, const Dataset* test = nullptr,
          std::size_t step_samples = 0, const Dataset* validation = nullptr);

  // All epochs, or what is left of them, or until train.patience is at its end. False when the observer
  // stopped it; of several processes, the observer of any, and only where StepReport::stop_agreed. Throws
  // Error when the loss stops being a number. What the observer's `step` takes counts as no training time.
  bool run(const TrainObserver& observer);

  // Everything that later steps depend on, between two steps: a trainer of the same configuration, data and
  // step size that loads it goes on to the bit as this one does, with any number of threads. The hash tables
  // are part of it, since they depend on the order in which neurons came into them.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  // One step over the samples order[first .. first + count); returns the loss summed over them.
  double step(std::size_t first, std::size_t count);

  // Ends training: hands out the model and gives back the rest of the memory. Nothing else may be called
  // afterwards.
  TrainedModel release() &&;

  const Network& network() const { return network_; }
  // The training samples that vote at inference; nullptr without neighbours.share. No step looks at them.
  const Neighbours* neighbours() const { return neighbours_ ? &*neighbours_ : nullptr; }
  TrainedNetwork trained() const { return {network_, neighbours()}; }
  const NetworkTraining& training() const { return training_; }
  Network& network() { return network_; }
  const DataShape& shape() const { return shape_; }
  // What it trains on, with what it learnt of it before the first step.
  const TrainingRows& rows() const { return rows_; }
  // Training samples skipped for want of a label, of interactions those with less than two items, unless all
  // have.
  std::size_t unlabelled() const { return unlabelled_; }
  std::size_t labelled() const { return labelled_.size() - texts_; }  // training samples of an epoch,
  std::size_t texts() const { return texts_; }                        // and texts of labels beside them
  const Dataset& crossed_rows() const { return rows_.crossed; }       // training rows with feature crosses
  Cluster* cluster() const { return cluster_; }                       // of several processes, else nullptr
  const LabelGroups& label_groups() const { return *groups_; }
  std::size_t batch_samples() const { return batch_; }  // samples in a full step
  std::uint64_t steps() const { return step_; }
  std::uint64_t all_steps() const { return steps_before_ + step_; }  // those of other runs before it, too
  std::uint64_t total_steps() const { return total_steps_; }

 private:
  Trainer(const Config& config, TrainingRows train, const Dataset* test, std::size_t step_samples,
          const Dataset* validation, Cluster* cluster, TrainedStart* start);

  // Where the run is in its epoch.
  struct Progress {
    std::uint32_t epoch = 1;
    std::uint64_t samples = 0;
    double loss = 0.0, active = 0.0;  // sums over these samples
    ActiveSources sources;
    double seconds = 0.0;
  };
  void continue_from(TrainedStart& start);
  double choose_neighbours();
  bool run_epochs(const TrainObserver& observer);
  bool run_epoch(const TrainObserver& observer);
  bool observe_step(const TrainObserver& observer);  // false: stop here
  bool finish_epoch(const TrainObserver& observer);  // false: train.patience is at its end
  void arrange_epoch(std::uint32_t epoch);
  double rate() const;  // of the next step
  ItemDraw draw() const;
  void fill_block(std::size_t first, std::size_t count, Block& block) const;
  void follow_schedule();
  void load_schedules(ByteReader& in, std::vector<IntervalSchedule>& schedules) const;
  void report_tables(const TrainObserver& observer) const;
  static lsh::Occupancy occupancy(const Layer& layer);
  std::optional<ActiveSources> sources_of_epoch() const;
  std::optional<TableHealth> table_health() const;
  EvalReport evaluate_now(const Dataset& data, const TrainObserver& observer) const;
  EvalReport validate(const TrainObserver& observer);

  Config config_;
  Cluster* cluster_;
  bool stop_agreed_ = false;
  TrainingRows rows_;
  const Dataset* test_;
  const Dataset* validation_;
  std::chrono::steady_clock::time_point started_;
  int threads_;
  std::size_t batch_;
  std::size_t unlabelled_ = 0, texts_ = 0;
  DataShape shape_;
  std::vector<std::uint32_t> labelled_;  // samples with labels, in file order
  std::vector<std::uint32_t> order_;     // of this epoch
  std::vector<float> label_weights_;     // by data.label_weights; empty: all are 1
  Network network_;
  NetworkTraining training_;
  std::optional<Neighbours> neighbours_;
  Optimizer optimizer_;
  Metrics::Propensities inverse_propensities_;
  Metrics::Groups groups_;
  std::vector<IntervalSchedule> rehash_, rebuild_;  // a layer
  std::uint64_t steps_before_ = 0;                  // of other runs
  std::uint64_t step_ = 0;
  std::uint64_t total_steps_ = 0;
  std::uint64_t fall_steps_ = 0;  // over which the rate falls; less than total_steps_ with train.patience
  std::uint64_t generation_ = 1;  // of the hash functions drawn last
  double train_seconds_ = 0.0;
  PhaseSeconds phases_;
  Progress progress_;
  double best_score_ = -1.0;          // on the validation samples
  std::uint32_t without_better_ = 0;  // validations since then
};

}  // namespace slide

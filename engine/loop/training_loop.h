// The training loop: epochs of steps on the samples of a source.
//
// A step takes the next batch, in blocks. Phase A computes forward, loss and backward of the blocks in
// parallel and only reads weights; phase B updates the rows with a gradient, each in the shard that owns it;
// phase C moves changed rows in the hash tables when the schedule says so. Results depend on the seed and the
// samples of a step, not on the number of threads or their timing.
//
// The loop knows layers, losses and hash tables. Samples come from a SampleSource, evaluation after an epoch
// from a callback, other processes from a Cluster, which is absent in a single process. One thread calls it;
// it uses `threads` threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/byte_io.h"
#include "engine/base/phases.h"
#include "engine/loop/early_stopping.h"
#include "engine/loop/reports.h"
#include "engine/loop/sample_source.h"
#include "engine/loop/step_plan.h"
#include "engine/loop/table_schedule.h"
#include "engine/network/network.h"
#include "engine/network/network_training.h"
#include "engine/network/optimizer.h"

namespace slide {

// Initial state of a loop.
struct LoopStart {
  Network network;                               // with its tables
  std::unique_ptr<SampleSource> source;          // not null
  std::vector<float> label_weights = {};         // by label; empty: all 1
  bool continued = false;                        // the network was trained before,
  std::uint64_t steps_before = 0;                // in so many steps,
  std::optional<OptimizerState> optimizer = {};  // and this is the optimizer's state, if known
  std::size_t batch_samples = 0;                 // of a full step; 0: as the configuration says
  int threads = 1;
  Cluster* cluster = nullptr;  // of several processes, each with its shards; must outlive the loop
};

class TrainingLoop {
 public:
  // Allocates everything that steps need. `sizes`: the rows that the source takes samples from, which bound
  // the size of a block. The loop uses the configuration of the network.
  TrainingLoop(LoopStart start, const Dataset& sizes);

  // Margins by label, which further steps subtract from the logits of a sample's labels; empty: all 0.
  void set_label_margins(std::vector<float> margins) { label_margins_ = std::move(margins); }

  // Position of the run at the end of an epoch.
  struct EpochEnd {
    std::uint32_t epoch;
    double train_seconds;   // so far
    std::uint64_t samples;  // trained on so far, in all epochs
  };
  // Trains the epochs that are left. `after_epoch` returns false to end the run there; training time does not
  // include it. Returns false where the observer of any process stopped the run (StepReport::stop_agreed).
  // Throws Error where the loss is not finite.
  bool run(const LoopObserver& observer, const std::function<bool(const EpochEnd&)>& after_epoch);

  // One step on the samples order[first .. first + count) of the epoch; returns the sum of their losses.
  double step(std::size_t first, std::size_t count);

  // The state that later steps depend on, between two steps: a loop of the same configuration, data and step
  // size that loads it continues with the same bits, with any number of threads. Hash tables are part of it:
  // they depend on the order in which neurons came into them.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  void set_setup_seconds(double seconds) { train_seconds_ = phases_.setup = seconds; }
  const Config& config() const { return network_.config(); }
  const Network& network() const { return network_; }
  Network& network() { return network_; }
  const NetworkTraining& training() const { return training_; }
  const SampleSource& source() const { return *source_; }
  const StepPlan& steps() const { return steps_; }
  std::size_t batch_samples() const { return batch_; }
  Cluster* cluster() const { return cluster_; }
  EarlyStopping& stopping() { return stopping_; }

  // Ends training: returns the network and the optimizer's state. Call nothing else afterwards.
  Network release_network() && { return std::move(network_); }
  OptimizerState release_optimizer() && { return std::move(training_).optimizer_state(); }

 private:
  // Position in the epoch, and sums over its samples so far.
  struct Progress {
    std::uint32_t epoch = 1;
    std::uint64_t samples = 0;
    double loss = 0.0, active = 0.0;
    ActiveSources sources;
    std::optional<double> recall;  // of the tables, by the samples of the epoch's last step
    double seconds = 0.0;
    bool stop_agreed = false;  // StepReport::stop_agreed
  };
  bool run_epochs(const LoopObserver& observer, const std::function<bool(const EpochEnd&)>& after_epoch);
  bool run_epoch(const LoopObserver& observer);
  bool report_step(const LoopObserver& observer);
  void report_epoch(const LoopObserver& observer) const;
  void report_tables(const LoopObserver& observer) const;
  void shuffle_epoch();

  Network network_;
  NetworkTraining training_;
  std::unique_ptr<SampleSource> source_;
  std::vector<float> label_weights_, label_margins_;
  Cluster* cluster_;
  int threads_;
  std::size_t batch_;                 // samples of a full step
  std::vector<std::uint32_t> order_;  // of the samples in this epoch
  Optimizer optimizer_;
  TableSchedule tables_;
  StepPlan steps_;
  EarlyStopping stopping_;
  double train_seconds_ = 0.0;
  PhaseSeconds phases_;
  Progress progress_;
};

}  // namespace slide

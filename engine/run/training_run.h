// A training run in its folder, from the data on disk to the saved model: what `slide train` does, without a
// word. It reads the data, holds validation samples back, refuses what would not fit into memory, trains,
// writes metrics.jsonl, checkpoints and the best model as it goes, and the model at the end. It reports
// through an observer.
//
// One object is one run, or what is left of a stopped one; one process at a time in a folder, or the
// processes of a cluster, which each have an object of their own and make the same calls: rank 0 writes what
// is not written by all. For one thread, which is also the one that the observer is called from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/memory_plan.h"
#include "engine/run/checkpoint.h"
#include "engine/run/continue_training.h"
#include "engine/run/run_data.h"
#include "engine/run/run_folder.h"
#include "engine/run/run_log.h"
#include "engine/training/trainer.h"

namespace slide {

// What a run is about to train.
struct TrainingStart {
  std::size_t weights = 0;       // without biases and the wide path's
  std::size_t step_samples = 0;  // in a full step
  std::size_t unlabelled = 0;    // training samples that are skipped
  int threads = 1;
  std::size_t from_vectors = 0;  // features that start from train.vectors
};

// What a run reports, each part as soon as it has happened; any may be empty. Of TrainObserver, `step`
// returning false stops the run: a checkpoint is saved, and the run can be gone on with.
struct RunObserver : TrainObserver {
  // All samples of data.train and data.test, read in so many seconds.
  std::function<void(const RunData& data, double seconds)> data;
  // Samples of data.train, of which those held out were chosen as split_rule() says.
  std::function<void(std::size_t held_out, std::size_t left, const char* by)> validation;
  // The network stands. From here on a stop loses nothing: `step` is asked before the run ends.
  std::function<void(const TrainingStart&)> start;
  std::function<void(const std::string& folder)> kept;  // a finished run that was here before now lies there
  std::function<void(std::uint64_t step, std::uint64_t total_steps)> resumed;  // after this step
  std::function<void()> trained;  // the last step is done, the model about to be saved
};

struct RunResult {
  bool stopped = false;  // by the observer; else the model is saved
  std::uint64_t steps = 0;
  std::uint64_t total_steps = 0;  // more than `steps` also where train.patience has ended the run
};

class TrainingRun {
 public:
  // A run that begins anew, or with train.init goes on from a model. The paths of `config` should be
  // absolute, as resolve_config() makes them: a resumed run reads the data from there. `cluster`: of several
  // processes that train together, which must outlive the run; where train.shards is 1, it becomes their
  // number.
  TrainingRun(Config config, std::filesystem::path folder, Cluster* cluster = nullptr);
  // The run in `folder`, which stops counting as free for other processes; `threads` in place of its
  // train.threads, in this process alone. Throws InputError when there is no run, another process has it, or
  // its configuration, its checkpoint or, where it is finished, its model cannot be used.
  static TrainingRun resume(std::filesystem::path folder, std::optional<std::uint32_t> threads,
                            Cluster* cluster = nullptr);

  const RunFolder& folder() const { return folder_; }
  const Config& config() const { return config_; }
  // Of a resumed run: whether it is complete, so that nothing is left to train, and whether it goes on from a
  // checkpoint, else from the beginning.
  bool finished() const { return finished_; }
  bool has_checkpoint() const { return saved_.has_value(); }
  int threads() const { return threads_; }
  // What the user should know about the configuration, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

  // Of a run that begins anew: claims its folder before train() does. Throws InputError where another process
  // has it, or a run is there that RunFolder::require_free() does not let it replace.
  void require_free_folder(bool replace);

  // Lines of the data with faults are left out, and train() does not fail for them.
  void skip_bad_rows() { skip_bad_ = true; }

  // Trains to the end or until the observer stops it. Call it once, on a run that is not finished. Throws
  // InputError for the data, a lack of memory and a checkpoint of other data, Error for what fails on the
  // way.
  RunResult train(const RunObserver& observer);

 private:
  struct Resume {};
  TrainingRun(Resume, std::filesystem::path folder, std::optional<std::uint32_t> threads, Cluster* cluster);

  bool leads() const { return cluster_ == nullptr || cluster_->rank() == 0; }
  RunData load(const RunObserver& observer);
  RunData read();
  RunData read_continued();
  TrainingRows rows_of(const RunData& data) const;
  TrainedStart start_continued(const RunData& data, const TrainingRows& rows) const;
  Trainer make_trainer(const RunData& data, TrainingRows rows) const;
  ModelParts parts_of(const Trainer& trainer, const RunData& data) const;
  void check_data(const RunData& data);
  void begin(Trainer& trainer, const RunData& data, const MemoryPlan& plan, const RunObserver& observer);
  RunStart log_start(const Trainer& trainer, const RunData& data, const MemoryPlan& plan) const;
  bool follow(Trainer& trainer, const RunData& data, const RunObserver& observer);
  void save_checkpoint(const Trainer& trainer, const RunData& data);
  void save_network(const std::string& path, const Trainer& trainer, const RunData& data) const;
  void finish(const Trainer& trainer, const RunData& data) const;

  RunFolder folder_;
  Cluster* cluster_;           // nullptr: one process
  std::optional<RunLog> log_;  // of the one that leads
  Config config_;              // as recorded
  Config used_;                // with this process's own number of threads
  int threads_ = 1;
  std::uint32_t train_labels_ = 0;  // checksums, as RunStart has them
  std::optional<std::uint32_t> test_labels_;
  double load_seconds_ = 0.0;
  std::optional<Checkpoint> saved_;
  std::optional<Model> init_;  // that the run goes on from: train.init, or what it began with
  ContinuedData continued_;    // of such a run, but for the data
  RunRecord record_;
  bool digested_ = false;  // record_ has those of the data
  std::optional<Dataset> validation_;
  std::string validation_by_;  // as RunStart has it
  bool finished_ = false;
  bool skip_bad_ = false;
  std::vector<std::string> notes_;
};

}  // namespace slide

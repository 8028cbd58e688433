// A training run in its folder, from data on disk to the saved model: the work of `slide train`, without
// output. It reads the data, holds out validation samples, checks memory, trains, writes metrics.jsonl,
// checkpoints and the best model during training and the model at the end, and reports to an observer.
//
// One object is one run, or the rest of a stopped run. One process at a time per folder, or the processes of
// a cluster, each with its own object and the same calls; rank 0 writes files that are not written together.
// One thread, on which the observer is called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/run/checkpoint.h"
#include "engine/run/continue_training.h"
#include "engine/run/run_data.h"
#include "engine/run/run_folder.h"
#include "engine/run/run_log.h"
#include "engine/training/memory_plan.h"
#include "engine/training/trainer.h"

namespace slide {

// Description of the training that is about to start.
struct TrainingStart {
  std::size_t weights = 0;       // without biases and the linear term
  std::size_t step_samples = 0;  // of a full step
  std::size_t unlabelled = 0;    // training samples without labels, skipped
  int threads = 1;
  std::size_t from_vectors = 0;  // features initialised from train.vectors
  MarginEvidence margin = {};    // of layer.-1.wide_margin = auto
};

// Events of a run, reported as they happen; each function may be empty. TrainObserver::step returning false
// stops the run: a checkpoint is saved, and the run can resume.
struct RunObserver : TrainObserver {
  // after reading data.train and data.test; read time
  std::function<void(const RunData& data, double seconds)> data;
  // Warnings of the data, before training; not called where memory is too small, whose error is all that is
  // said.
  std::function<void(const std::vector<std::string>&)> warnings;
  // After holding out validation samples: their number, the remaining training samples, and the rule, see
  // split_rule().
  std::function<void(std::size_t held_out, std::size_t left, const char* by)> validation;
  // After the network is built. From here on a stop loses no work: `step` is called before the run ends.
  std::function<void(const TrainingStart&)> start;
  std::function<void(const std::string& folder)> kept;  // the previous finished run was moved to this folder
  std::function<void(std::uint64_t step, std::uint64_t total_steps)> resumed;  // resumed after this step
  std::function<void()> trained;  // after the last step, before the model is saved
};

struct RunResult {
  bool stopped = false;  // by the observer; else the model is saved
  std::uint64_t steps = 0;
  std::uint64_t total_steps = 0;  // exceeds `steps` also where train.patience ended the run
};

class TrainingRun {
 public:
  // A new run; with train.init it continues a model. Paths of `config` should be absolute, as
  // resolve_config() makes them: a resumed run reads the data there. `cluster`: the cooperating processes,
  // must outlive the run; train.shards = 1 becomes their number.
  TrainingRun(Config config, std::filesystem::path folder, Cluster* cluster = nullptr);
  // Resumes the run in `folder`, which it claims; `threads` replaces train.threads in this process. Throws
  // InputError where there is no run, another process has it, or its configuration, checkpoint or (if
  // finished) model is unusable.
  static TrainingRun resume(std::filesystem::path folder, std::optional<std::uint32_t> threads,
                            Cluster* cluster = nullptr);

  const RunFolder& folder() const { return folder_; }
  // The configuration as given, or as a resumed run recorded it.
  const Config& config() const { return stated_; }
  // For a resumed run: whether it is complete; and whether it continues from a checkpoint rather than from
  // the beginning.
  bool finished() const { return finished_; }
  bool has_checkpoint() const { return saved_.has_value(); }
  int threads() const { return threads_; }
  // Warnings about the configuration, one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

  // For a new run: claims its folder before train() does. Throws InputError where another process has it, or
  // RunFolder::require_free() does not allow replacing its run.
  void require_free_folder(bool replace);

  // Makes train() skip malformed rows of the data instead of failing.
  void skip_bad_rows() { skip_bad_ = true; }

  // Trains to the end or until the observer stops it. Call once, on an unfinished run. Throws InputError for
  // invalid data, insufficient memory and a checkpoint of other data; Error for failures during the run.
  RunResult train(const RunObserver& observer);

 private:
  struct Resume {};
  TrainingRun(Resume, std::filesystem::path folder, std::optional<std::uint32_t> threads, Cluster* cluster);

  bool leads() const { return cluster_ == nullptr || cluster_->rank() == 0; }
  RunData load(const RunObserver& observer);
  RunData read();
  RunData read_continued();
  TrainingRows rows_of(const RunData& data) const;
  JobStart start_of(const RunData& data, const TrainingRows& rows) const;
  Trainer make_trainer(const RunData& data, TrainingRows rows) const;
  ModelParts parts_of(const Trainer& trainer, const RunData& data) const;
  void check_data(const RunData& data);
  void begin(Trainer& trainer, const RunData& data, const MemoryPlan& plan, const RunObserver& observer);
  void open_log(std::optional<std::uint64_t> kept = std::nullopt);
  RunStart log_start(const Trainer& trainer, const RunData& data, const MemoryPlan& plan) const;
  bool run_trainer(Trainer& trainer, const RunData& data, const RunObserver& observer);
  void save_checkpoint(const Trainer& trainer, const RunData& data);
  void save_network(const std::string& path, const Trainer& trainer, const RunData& data) const;
  void finish(const Trainer& trainer, const RunData& data) const;

  RunFolder folder_;
  Cluster* cluster_;           // nullptr: single process
  std::optional<RunLog> log_;  // on rank 0
  Config stated_;
  std::optional<const Config> config_;  // the effective one, made of stated_ once the data are read
  int threads_ = 1;                     // of this process
  std::uint32_t train_labels_ = 0;      // checksums, see RunStart
  std::optional<std::uint32_t> test_labels_;
  double load_seconds_ = 0.0;
  std::optional<Checkpoint> saved_;
  std::optional<Model> init_;  // the model that the run continues: train.init, or the model at its start
  ContinuedData continued_;    // of an incremental run, without the data
  RunRecord record_;
  bool digested_ = false;  // record_ has the digests of the data
  std::optional<Dataset> validation_;
  std::string validation_by_;  // see RunStart
  bool finished_ = false;
  bool skip_bad_ = false;
  std::vector<std::string> notes_;
};

}  // namespace slide

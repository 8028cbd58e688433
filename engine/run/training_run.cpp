#include "engine/run/training_run.h"

#include <array>
#include <chrono>
#include <system_error>
#include <utility>

#include "datasets/rows/data_parts.h"
#include "datasets/rows/split.h"
#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/phases.h"
#include "engine/base/summed_file.h"
#include "engine/config/effective.h"
#include "engine/crosses/feature_transform.h"
#include "engine/inference/shared_predictor.h"
#include "engine/model/model_file.h"
#include "engine/run/first_vectors.h"
#include "engine/run/ranks.h"
#include "engine/run/require_memory.h"
#include "engine/run/shared_folder.h"

namespace slide {

namespace {

namespace fs = std::filesystem;

template <class Callback, class... Args>
void notify(const Callback& callback, Args&&... args) {
  if (callback) callback(std::forward<Args>(args)...);
}

double bytes_of(const Dataset& data) {
  return double(data.feature_entries() * (sizeof(std::uint32_t) + sizeof(float)) +
                data.label_entries() * sizeof(std::uint32_t) + data.size() * 2 * sizeof(std::uint64_t));
}

// Digest of the training samples, including a validation file.
DataDigest training_digest(const RunData& data) {
  DataDigest digest = digest_of(data.train);
  if (data.validation) {
    const std::array<std::uint64_t, 2> both = {digest.checksum, digest_of(*data.validation).checksum};
    digest.checksum = crc_32(0, slide::bytes_of(both));
  }
  return digest;
}

TrainingStart facts_of(const Trainer& trainer, int threads) {
  TrainingStart start{0, trainer.batch_samples(), trainer.unlabelled(), threads};
  start.margin = trainer.margin_evidence();
  const Network& network = trainer.network();
  if (network.input()) start.weights += network.input()->weights().rows * network.input()->weights().columns;
  for (const Layer& layer : network.layers()) start.weights += layer.size() * layer.inputs();
  return start;
}

// A run that has not finished may have a model already, as after a kill at its very end; it must be its own.
void require_own_model(const RunFolder& folder, const Config& config) {
  if (!fs::exists(folder.model())) return;
  try {
    return check_same_config(load_model(folder.model()).config, config, folder.model());
  } catch (const InputError&) {  // reported below
  }
  fail_input(
      "{}: a model is here that this run did not write, and that it would replace; move it elsewhere, then "
      "resume",
      folder.model());
}

// A finished run must have a valid model.
void require_model(const RunFolder& folder) {
  try {
    check_model_file(folder.model());
  } catch (const InputError& error) {
    fail_input(
        "{}: the run is finished, but its model cannot be used ({}); put it back, or train anew with --force",
        folder.name(), error.what());
  }
}

}  // namespace

TrainingRun::TrainingRun(Config config, fs::path folder, Cluster* cluster)
    : folder_(std::move(folder)),
      cluster_(cluster != nullptr && cluster->size() > 1 ? cluster : nullptr),
      stated_(std::move(config)) {
  if (cluster_ != nullptr)  // before any data are read
    effective_config(stated_, {.processes = static_cast<std::uint32_t>(cluster_->size())}, &notes_);
  threads_ = own_threads(static_cast<int>(stated_.train.threads), cluster_);
  if (stated_.train.deterministic) {
    notes_.push_back(
        "train.deterministic has no effect: the result is the same to the bit whatever the thread count");
  }
}

TrainingRun TrainingRun::resume(fs::path folder, std::optional<std::uint32_t> threads, Cluster* cluster) {
  return {Resume{}, std::move(folder), threads, cluster};
}

// Resumes from the folder: from its checkpoint if there is one, else from the beginning unless it has
// finished.
TrainingRun::TrainingRun(Resume, fs::path folder, std::optional<std::uint32_t> threads, Cluster* cluster)
    : folder_(std::move(folder)), cluster_(cluster != nullptr && cluster->size() > 1 ? cluster : nullptr) {
  if (cluster_ != nullptr) require_shared_folder(*cluster_, folder_.name(), false);
  if (!fs::exists(folder_.config())) {
    fail_input("{}: there is no run to go on with, it has no config.toml; name the folder given with --out",
               folder_.name());
  }
  if (leads()) folder_.claim();
  stated_ = resolve_stored_config(folder_.config(), notes_);
  if (folder_.has_checkpoint()) {
    saved_.emplace(folder_.checkpoint());
    check_same_config(saved_->record().config, stated_, folder_.config());
  } else {
    finished_ = folder_.is_finished();
    if (finished_ && leads()) require_model(folder_);
  }
  if (!finished_ && leads()) require_own_model(folder_, stated_);
  threads_ = own_threads(static_cast<int>(threads.value_or(stated_.train.threads)), cluster_);
}

void TrainingRun::require_free_folder(bool replace) {
  if (leads()) folder_.require_free(replace);
}

// The whole run: reads data, checks that memory suffices, trains, and saves the model.
RunResult TrainingRun::train(const RunObserver& observer) {
  if (leads()) folder_.claim();
  if (cluster_ != nullptr) {
    const auto processes = static_cast<std::uint32_t>(cluster_->size());
    require_same_config(*cluster_, effective_config(stated_, {.processes = processes}));
    require_shared_folder(*cluster_, folder_.name(), true);
  }
  const RunData data = load(observer);
  if (cluster_ != nullptr) {
    require_same_data(*cluster_, data);
    if (data.test || validation_) require_shared_evaluation(*config_);
  }
  if (saved_) check_data(data);
  const MemoryPlan minimum = plan_least(*config_, data.train, threads_, cluster_);
  require_memory(minimum, cluster_);
  notify(observer.warnings, data.warnings());
  TrainingRows rows = rows_of(data);
  const std::size_t evaluated =
      std::max(data.test ? data.test->size() : 0, validation_ ? validation_->size() : 0);
  MemoryPlan needed = plan_run(*config_, rows, threads_, evaluated, cluster_);
  require_memory(needed, cluster_);
  needed.search = minimum.search;  // for the log
  Trainer trainer = make_trainer(data, std::move(rows));
  init_.reset();
  TrainingStart start = facts_of(trainer, threads_);
  if (!saved_ && !config_->train.vectors.empty())
    start.from_vectors = start_from_vectors(config_->train.vectors, data.text.get(), trainer.network());
  notify(observer.start, start);
  begin(trainer, data, needed, observer);
  const bool done = run_trainer(trainer, data, observer);
  if (done) {
    notify(observer.trained);
    finish(trainer, data);
  }
  return {!done, trainer.steps(), trainer.total_steps()};
}

// Reads the data, completes the configuration by them, and takes out the validation samples.
RunData TrainingRun::load(const RunObserver& observer) {
  const auto start = std::chrono::steady_clock::now();
  RunData data = read();
  load_seconds_ = seconds_since(start);
  config_.emplace(effective_config(stated_, facts_of(data.train, data.text.get(), cluster_), &notes_));
  const DataConfig& keys = config_->data;
  if (data.train.keys() && !keys.validation.wanted() && keys.test_after.empty() &&
      keys.kind != DataKind::kInteractions)
    notes_.push_back(
        "warning: data.group and data.time choose validation samples, but data.validation is not set");
  notify(observer.data, data, load_seconds_);
  if (!saved_) {  // for the start line of the log
    train_labels_ = label_checksum(data.train);
    if (data.test) test_labels_ = label_checksum(*data.test);
  }
  const char* const by = data.validation ? "file" : split_rule(data.train);
  validation_ = take_validation(*config_, data);
  if (validation_) validation_by_ = by;
  if (validation_ && config_->data.validation.file.empty())
    notify(observer.validation, validation_->size(), data.train.samples(), by);
  return data;
}

RunData TrainingRun::read() {
  if (stated_.train.init.empty()) return read_together(stated_, threads_, skip_bad_, cluster_);
  if (cluster_ != nullptr)
    fail_input("several processes cannot continue a model (train.init); start a single process");
  return read_continued();
}

// Loads the model that the run continues, and reads the new data.
RunData TrainingRun::read_continued() {
  if (saved_) {
    init_ = load_model(folder_.start());
    continued_.unseen_runs = init_->unseen_runs;
    return read_again(stated_, threads_, skip_bad_, *init_);
  }
  init_ = load_model(folder_.model_before(stated_.train.init), LoadOptimizer::kYes);
  check_continued(init_->config, stated_, stated_.train.init);
  if (init_->thresholds) {
    notes_.push_back(
        fmt::format("{}: its thresholds are dropped, for scores change by training; find them anew by slide "
                    "evaluate, "
                    "and store them by slide convert --threshold",
                    stated_.train.init));
  }
  if (init_->calibration) {
    notes_.push_back(
        fmt::format("{}: its calibration is dropped, for scores change by training; fit one anew by slide "
                    "convert --calibrate",
                    stated_.train.init));
  }
  continued_ = slide::read_continued_data(stated_, threads_, skip_bad_, *init_);
  return std::move(continued_.data);
}

TrainingRows TrainingRun::rows_of(const RunData& data) const {
  if (!init_) return {*config_, data.train, threads_};
  if (saved_) return {crosses_of(init_->network), data.train, threads_};
  return continued_rows(*init_, data.train, data.text.get(), threads_);
}

Trainer TrainingRun::make_trainer(const RunData& data, TrainingRows rows) const {
  JobStart start = start_of(data, rows);
  const EvaluationData evaluation{data.test ? &*data.test : nullptr, validation_ ? &*validation_ : nullptr};
  return Trainer({*config_, std::move(rows), std::move(start), threads_, evaluation, cluster_});
}

// What training starts from: a checkpoint, a model to continue, or fresh weights.
JobStart TrainingRun::start_of(const RunData& data, const TrainingRows& rows) const {
  if (saved_) {
    ResumedStart resumed{saved_->record().step_samples};
    if (init_) resumed.begun = start_again(*init_, *config_, rows, threads_);
    return resumed;
  }
  if (!init_) return FreshStart();
  return ContinuedStart{
      start_continued(*init_, *config_, rows, data.text.get(), continued_.expired, threads_)};
}

// Throws InputError unless the data have the digests that the checkpoint has stored.
void TrainingRun::check_data(const RunData& data) {
  const auto check = [&](const std::string& path, const std::optional<DataDigest>& now,
                         const std::optional<DataDigest>& before) {
    if (now == before) return;
    fail_input("{}: the data are not those of the run in {}; put them back, or train anew with --force",
               path.empty() ? "data.test" : path, folder_.name());
  };
  record_.train = training_digest(data);
  if (data.test) record_.test = digest_of(*data.test);
  const std::string& validation = config_->data.validation.file;
  const std::string train = shown_path(config_->data.train);
  check(validation.empty() ? train : train + " or " + shown_path(validation), record_.train,
        saved_->record().train);
  check(shown_path(config_->data.test), record_.test, saved_->record().test);
  digested_ = true;
}

// Restores the trainer from the checkpoint of a stopped run, if any, and prepares the folder for writing.
void TrainingRun::begin(Trainer& trainer, const RunData& data, const MemoryPlan& plan,
                        const RunObserver& observer) {
  record_.config = *config_;
  record_.step_samples = trainer.batch_samples();
  if (!saved_) {
    if (leads()) {
      if (folder_.begin(*config_, threads_)) notify(observer.kept, folder_.previous());
      open_log();
      log_->write(log_start(trainer, data, plan));
      for (const std::string& warning : data.warnings()) log_->write_warning(warning);
    }
  } else {
    saved_->restore(trainer);
    notify(observer.resumed, trainer.steps(), trainer.total_steps());
    if (leads()) {
      folder_.tidy();
      folder_.write_environment(threads_, false);
      open_log(saved_->record().log_bytes);
    }
    saved_.reset();
  }
  if (cluster_ != nullptr) cluster_->barrier();
}

// kept: bytes of a log to continue.
void TrainingRun::open_log(std::optional<std::uint64_t> kept) {
  if (kept)
    log_.emplace(folder_.log(), config_->eval.k, *kept);
  else
    log_.emplace(folder_.log(), config_->eval.k);
  if (config_->train.tensorboard) log_->also_write_events(folder_.events());
}

// The facts for the first line of the log. data_bytes counts the rows with crosses only where they are a
// copy.
RunStart TrainingRun::log_start(const Trainer& trainer, const RunData& data, const MemoryPlan& plan) const {
  const DataShape& shape = trainer.shape();
  const Dataset& crossed = trainer.crossed_rows();
  const double rows = crossed.feature_entries() == data.train.feature_entries() ? 0.0 : bytes_of(crossed);
  const double data_bytes = bytes_of(data.train) + rows + (data.test ? bytes_of(*data.test) : 0.0) +
                            (validation_ ? bytes_of(*validation_) : 0.0);
  return {trainer.labelled(),
          data.test ? data.test->size() : 0,
          shape.features,
          trainer.network().labels(),
          train_labels_,
          test_labels_,
          load_seconds_,
          data_bytes,
          plan,
          trainer.label_groups(),
          validation_ ? validation_->size() : 0,
          validation_by_,
          threads_,
          trainer.margin_evidence()};
}

// Trains, saves checkpoints and the best model, writes the log, and passes reports on to `observer`. Returns
// false where an observer stopped the run, whose checkpoint is then saved.
bool TrainingRun::run_trainer(Trainer& trainer, const RunData& data, const RunObserver& observer) {
  TrainObserver train_observer;
  train_observer.step = [&](const StepReport& report) {
    const bool stops = observer.step && !observer.step(report);
    const bool ends = cluster_ == nullptr ? stops : report.stop_agreed;
    const std::uint32_t every = config_->train.checkpoint_every;
    if (ends || (every > 0 && report.step % every == 0)) save_checkpoint(trainer, data);
    return !stops;
  };
  train_observer.epoch = [&](const EpochReport& report) {
    if (log_) log_->write(report);
    notify(observer.epoch, report);
  };
  train_observer.tables = [&](const TablesReport& report) {
    if (log_) log_->write(report);
    notify(observer.tables, report);
  };
  train_observer.eval = [&](const EvalReport& report) {
    if (log_) log_->write(report);
    notify(observer.eval, report);
    if (report.best) save_network(folder_.best_model(), trainer, data);
  };
  train_observer.evaluating = observer.evaluating;
  return trainer.run(train_observer);
}

// With train.init, the first checkpoint also saves start.slide, since the model's file may change later. It
// gives the shape of the grown model and its steps before the run; the checkpoint replaces its weights.
void TrainingRun::save_checkpoint(const Trainer& trainer, const RunData& data) {
  if (!digested_) {
    record_.train = training_digest(data);
    if (data.test) record_.test = digest_of(*data.test);
    digested_ = true;
  }
  record_.log_bytes = log_ ? log_->sync() : 0;
  if (!config_->train.init.empty() && !fs::exists(folder_.start())) {
    ModelParts start = parts_of(trainer, data);
    start.optimizer = nullptr;
    start.steps -= trainer.steps();
    save_model(folder_.start(), start);
  }
  slide::save_checkpoint(folder_.checkpoint(), record_, trainer);
}

void TrainingRun::save_network(const std::string& path, const Trainer& trainer, const RunData& data) const {
  save_model(path, parts_of(trainer, data), cluster_);
}

ModelParts TrainingRun::parts_of(const Trainer& trainer, const RunData& data) const {
  return {*config_,
          trainer.shape(),
          trainer.trained(),
          &trainer.training().optimizer_state(),
          trainer.all_steps(),
          data.text.get(),
          continued_.unseen_runs};
}

void TrainingRun::finish(const Trainer& trainer, const RunData& data) const {
  save_network(folder_.model(), trainer, data);
  if (!leads()) return;
  folder_.write_environment(threads_, true);
  std::error_code ignored;
  fs::remove(folder_.checkpoint(), ignored);
  fs::remove(folder_.start(), ignored);
}

}  // namespace slide

#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>

#include "datasets/split.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/phases.h"
#include "engine/cli/commands.h"
#include "engine/cli/stop_signal.h"
#include "engine/cli/text.h"
#include "engine/network/memory_plan.h"
#include "engine/run/checkpoint.h"
#include "engine/run/free_memory.h"
#include "engine/run/model_file.h"
#include "engine/run/run_data.h"
#include "engine/run/run_folder.h"
#include "engine/run/run_log.h"
#include "engine/training/trainer.h"

namespace slide::cli {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void print_data(const char* name, const std::string& path, const Dataset& data) {
  print("{:6}{}: {} samples, {} features, {} labels\n", name, path, grouped(data.size()),
        grouped(data.feature_count()), grouped(data.label_count()));
}

RunData load(const Config& config) {
  const auto start = Clock::now();
  RunData data = read_run_data(config, static_cast<int>(config.train.threads));
  print_data("train", config.data.train, data.train);
  if (data.test) {
    print_data("test", config.data.test, *data.test);
  } else {
    print("test  none: data.test is not set, so there is no evaluation\n");
  }
  if (data.text != nullptr) {
    print("text  {} words and n-grams are features, {} labels\n", grouped(data.text->feature_count()),
          grouped(data.text->label_count()));
  }
  for (const std::string& note : data.notes) print("{}\n", note);
  print("loaded in {:.2f} s\n", seconds_since(start));
  return data;
}

void print_start(const Config& config, const Trainer& trainer) {
  std::size_t weights = 0;
  const Network& network = trainer.network();
  if (network.input()) weights += network.input()->weights().rows * network.input()->weights().columns;
  for (const Layer& layer : network.layers()) weights += layer.size() * layer.inputs();
  print("training {} epochs, {} samples a step, {} threads, {} weights\n", config.train.epochs,
        trainer.batch_samples(), resolve_threads(static_cast<int>(config.train.threads)), grouped(weights));
  if (trainer.unlabelled() > 0) {
    print("{} training samples have no label and are skipped\n", grouped(trainer.unlabelled()));
  }
}

void print_report(const EpochReport& report, std::uint32_t epochs) {
  print("epoch {}/{}  step {}  loss {:.4f}  {:.2f} s  {} samples/s  {:.0f} active\n", report.epoch, epochs,
        report.step, report.loss, report.train_seconds,
        grouped(static_cast<std::uint64_t>(report.samples_per_second)), report.active_mean);
}

void print_report(const EvalReport& report, const std::vector<std::uint32_t>& ks) {
  std::string line = fmt::format("  {} {}", report.validation ? "validation" : "eval", report.epoch);
  const nlohmann::ordered_json measures = eval_measures(report.metrics, ks);
  for (const auto& [name, value] : measures.items())
    line += fmt::format("  {} {:.4f}", name, value.get<double>());
  print("{}{}  ({:.2f} s)\n", line, report.best ? "  best" : "", report.eval_seconds);
}

// The status line of a run, at most five times a second.
class Status {
 public:
  Status(const Config& config, const Trainer& trainer)
      : epochs_(config.train.epochs),
        k_(config.eval.k.front()),
        from_(trainer.steps()),
        wanted_(has_status_line()),
        began_(Clock::now()) {}
  ~Status() { show_status(""); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  void show(const StepReport& report) {
    if (!wanted_) return;
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(200)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const double left = seconds / double(report.step - from_) * double(report.total_steps - report.step);
    std::string line =
        fmt::format("epoch {}/{}  {} samples/s  loss {:.4f}  {:.0f} active  {} left", report.epoch, epochs_,
                    grouped(static_cast<std::uint64_t>(double(report.samples) / report.seconds)), report.loss,
                    report.active_mean, duration_text(left));
    if (precision_) line += fmt::format("  P@{} {:.4f}", k_, *precision_);
    show_status(line);
  }
  void set_precision(double precision) { precision_ = precision; }

 private:
  static std::string duration_text(double seconds) {
    const auto s = static_cast<std::uint64_t>(seconds);
    return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                    : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  }

  std::uint32_t epochs_;
  std::uint32_t k_;  // of the precision shown
  std::uint64_t from_;
  bool wanted_;
  Clock::time_point began_, shown_;
  std::optional<double> precision_;
};

// A run in its folder.
class Run {
 public:
  explicit Run(const TrainCommand& command) : folder_(folder_of(command)) {
    if (command.resume.empty()) {
      std::vector<std::string> overrides = command.set;
      if (command.threads) overrides.push_back(fmt::format("train.threads={}", *command.threads));
      if (command.seed) overrides.push_back(fmt::format("train.seed={}", *command.seed));
      config_ = resolve_config(command.config, overrides);
    } else {
      open(command);
    }
    used_ = config_;
    if (command.threads) used_.train.threads = *command.threads;
    threads_ = resolve_threads(static_cast<int>(used_.train.threads));
  }

  // Whether a resumed run has nothing left to do.
  bool finished() const { return finished_; }

  void train() {
    folder_.claim();
    const RunData data = load_split();
    const Dataset* test = data.test ? &*data.test : nullptr;
    if (saved_) check_data(data);
    const MemoryPlan plan = plan_memory(config_, data.train.feature_count(), data.train.label_count(),
                                        bounds_of(data.train, config_.train.block_size), threads_);
    require_memory(plan);
    Trainer trainer(used_, data.train, test, saved_ ? saved_->record().step_samples : 0,
                    validation_ ? &*validation_ : nullptr);
    print_start(config_, trainer);
    // From before the folder shows that there is a run: whoever sees it may stop it.
    std::optional<StopSignal> signals(std::in_place);
    record_.config = config_;
    record_.step_samples = trainer.batch_samples();
    if (saved_) {
      saved_->restore(trainer);
      folder_.tidy();
      print("going on after step {} of {}\n", trainer.steps(), trainer.total_steps());
    } else {
      folder_.begin(config_);
    }
    folder_.write_environment(threads_, false);
    RunLog log = saved_ ? RunLog(folder_.log(), config_.eval.k, saved_->record().log_bytes)
                        : RunLog(folder_.log(), config_.eval.k);
    if (!saved_) log.write(start_of(trainer, data, plan));
    saved_.reset();
    follow(trainer, data, log);
    signals.reset();
    finish(trainer, data);
  }

 private:
  static fs::path folder_of(const TrainCommand& command) {
    if (!command.resume.empty()) return command.resume;
    return command.out.empty() ? "run" / fs::path(command.config).stem() : fs::path(command.out);
  }

  void open(const TrainCommand& command) {
    if (!fs::exists(folder_.config())) {
      fail_input("{}: there is no run to go on with, it has no config.toml; name the folder given with --out",
                 command.resume);
    }
    folder_.claim();
    config_ = resolve_config(folder_.config(), {});
    if (folder_.has_checkpoint()) {
      saved_.emplace(folder_.checkpoint());
      check_same_config(saved_->record().config, config_, folder_.config());
    } else if (folder_.is_finished()) {
      finished_ = true;
      print("the run in {} is complete\n", folder_.name());
    } else {
      print("{} has no checkpoint yet: from the beginning\n", folder_.name());
    }
  }

  RunData load_split() {
    const auto start = Clock::now();
    RunData data = load(used_);
    load_seconds_ = seconds_since(start);
    if (config_.data.validation == 0) return data;
    Split split = split_dataset(data.train, config_.data.validation, data.train.size(), config_.train.seed);
    data.train = std::move(split.train);
    validation_ = std::move(split.validation);
    print("{} samples are held out for validation, {} are left to train on\n", grouped(validation_->size()),
          grouped(data.train.size()));
    return data;
  }

  void check_data(const RunData& data) {
    const auto check = [&](const std::string& path, const Dataset* now,
                           const std::optional<DataDigest>& before) {
      if (now == nullptr && !before) return std::optional<DataDigest>();
      if (now != nullptr && before) {
        const DataDigest digest = digest_of(*now);
        if (digest == *before) return std::optional(digest);
      }
      fail_input("{}: the data are not those of the run in {}; put them back, or train anew without --resume",
                 path.empty() ? "data.test" : path, folder_.name());
    };
    record_.train = *check(config_.data.train, &data.train, saved_->record().train);
    record_.test = check(config_.data.test, data.test ? &*data.test : nullptr, saved_->record().test);
    digested_ = true;
  }

  RunStart start_of(const Trainer& trainer, const RunData& data, const MemoryPlan& plan) const {
    const auto bytes = [](const Dataset& set) {
      return double(set.feature_entries() * (sizeof(std::uint32_t) + sizeof(float)) +
                    set.label_entries() * sizeof(std::uint32_t) + set.size() * 2 * sizeof(std::uint64_t));
    };
    const DataShape& shape = trainer.shape();
    const double data_bytes =
        bytes(data.train) + (data.test ? bytes(*data.test) : 0.0) + (validation_ ? bytes(*validation_) : 0.0);
    return {trainer.labelled(),
            data.test ? data.test->size() : 0,
            shape.features,
            trainer.network().labels(),
            load_seconds_,
            data_bytes,
            plan,
            trainer.label_groups()};
  }

  void save(const Trainer& trainer, const RunData& data, RunLog& log) {
    if (!digested_) {
      record_.train = digest_of(data.train);
      if (data.test) record_.test = digest_of(*data.test);
      digested_ = true;
    }
    record_.log_bytes = log.sync();
    save_checkpoint(folder_.checkpoint(), record_, trainer);
  }

  void follow(Trainer& trainer, const RunData& data, RunLog& log) {
    Status status(config_, trainer);
    TrainObserver observer;
    observer.step = [&](const StepReport& report) {
      const bool stop = StopSignal::came() != 0;
      const std::uint32_t every = config_.train.checkpoint_every;
      if (stop || (every > 0 && report.step % every == 0)) save(trainer, data, log);
      status.show(report);
      return !stop;
    };
    observer.epoch = [&](const EpochReport& report) {
      log.write(report);
      print_report(report, config_.train.epochs);
    };
    observer.tables = [&](const TablesReport& report) { log.write(report); };
    observer.eval = [&](const EvalReport& report) {
      log.write(report);
      print_report(report, config_.eval.k);
      if (report.validation || !validation_)
        status.set_precision(report.metrics.precision(config_.eval.k.front()));
      if (report.best) save_best(trainer, data);
    };
    if (trainer.run(observer)) return;
    show_status("");
    const int signal = StopSignal::came();
    fmt::print(stderr, "slide: stopped by {} after step {} of {}; go on with: slide train --resume {}\n",
               StopSignal::name(signal), trainer.steps(), trainer.total_steps(), folder_.name());
    throw Interrupted{128 + signal};
  }

  void save_best(const Trainer& trainer, const RunData& data) {
    save_model(folder_.best_model(),
               {config_, trainer.shape(), trainer.trained(), &trainer.training().optimizer_state(),
                trainer.steps(), data.text.get()});
  }

  void finish(const Trainer& trainer, const RunData& data) {
    save_model(folder_.model(), {config_, trainer.shape(), trainer.trained(),
                                 &trainer.training().optimizer_state(), trainer.steps(), data.text.get()});
    folder_.write_environment(threads_, true);
    std::error_code ignored;
    fs::remove(folder_.checkpoint(), ignored);
    if (trainer.steps() < trainer.total_steps()) {
      print("stopped early: {} validations in a row without improvement\n", config_.train.patience);
    }
    if (validation_) print("the best model by validation is in {}\n", folder_.best_model());
    print("wrote config.toml, environment.json, metrics.jsonl and model.slide ({}) to {}\n",
          memory_text(static_cast<double>(fs::file_size(folder_.model()))), folder_.name());
  }

  RunFolder folder_;
  Config config_;  // as recorded
  Config used_;    // with this process's own number of threads
  int threads_ = 1;
  double load_seconds_ = 0.0;
  std::optional<Checkpoint> saved_;
  RunRecord record_;
  std::optional<Dataset> validation_;
  bool digested_ = false;  // record_ has the prints of the data
  bool finished_ = false;
};

}  // namespace

void run_train(const TrainCommand& command) {
  if (command.quiet) be_quiet();
  Run run(command);
  if (!run.finished()) run.train();
}

}  // namespace slide::cli

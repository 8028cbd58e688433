#include "engine/training/tune.h"

#include <filesystem>
#include <system_error>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"
#include "engine/run/free_memory.h"
#include "engine/run/run_data.h"

namespace slide::cli {

namespace {

namespace fs = std::filesystem;

fs::path output_of(const TuneCommand& command) {
  const fs::path file = command.out.empty()
                            ? "run" / fs::path(fs::path(command.config).stem().string() + "-tuned.toml")
                            : fs::path(command.out);
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  if (error) {
    fail_run("{}: the folder cannot be created ({}); give another --out", file.parent_path().string(),
             error.message());
  }
  if (fs::is_directory(file, error)) fail_input("{} is a folder; --out names a file", file.string());
  return file;
}

std::string text_of(const std::vector<std::string>& changes) {
  std::string text;
  for (const std::string& change : changes) text += "  " + change;
  return text.empty() ? "  the configuration as it is" : text;
}

void print_trial(const Trial& trial) {
  const std::string score = trial.stopped    ? "stopped"
                            : !trial.within  ? "too slow"
                            : trial.diverged ? "diverged"
                                             : fmt::format("score {:.4f}", trial.score);
  print("{:4}{} {:<12}  {:.1f} s, about {:.3g} s on all data{}\n", trial.number, trial.is_best ? "*" : " ",
        score, trial.train_seconds, trial.full_seconds, text_of(trial.changes));
}

}  // namespace

void run_tune(const TuneCommand& command) {
  TuneOptions options{command.minutes * 60.0, command.trials, command.set};
  if (command.train_seconds) options.train_seconds = *command.train_seconds;
  if (command.threads) options.fixed.push_back(fmt::format("train.threads={}", *command.threads));
  if (command.seed) options.fixed.push_back(fmt::format("train.seed={}", *command.seed));
  const Config start = resolve_config(command.config, options.fixed);
  const fs::path file = output_of(command);
  Config training = start;
  training.data.test.clear();  // the test file has no part in the search
  const RunData data = read_run_data(training, static_cast<int>(start.train.threads));
  for (const std::string& note : data.notes) print("{}\n", note);
  require_memory(plan_memory(start, data.train.feature_count(), data.train.label_count(),
                             bounds_of(data.train, start.train.block_size),
                             resolve_threads(static_cast<int>(start.train.threads))));
  const TuneResult result = tune(start, data.train, options, print_trial);
  write_file(file.string(), to_toml(result.config));
  print(
      "{} trials on {} samples{}, scored on {} others; best is {}, score {:.4f}, about {:.3g} s on all "
      "data:{}\nwrote {}\n",
      result.trials, grouped(result.train_samples),
      result.folds > 1 ? fmt::format(" of {} splits each", result.folds) : "",
      grouped(result.validation_samples), result.best.number, result.best.score, result.best.full_seconds,
      text_of(result.best.changes), file.string());
}

}  // namespace slide::cli

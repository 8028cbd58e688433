#include "engine/run/tuning.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/summed_file.h"
#include "engine/config/parse.h"
#include "engine/inference/shared_predictor.h"
#include "engine/run/ranks.h"
#include "engine/run/require_memory.h"
#include "engine/run/run_data.h"

namespace slide {

namespace fs = std::filesystem;

void prepare_output(const fs::path& file, const char* option) {
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  if (error) {
    fail_run("{}: the folder cannot be created ({}); give another {}", file.parent_path().string(),
             error.message(), option);
  }
  if (fs::is_directory(file, error)) fail_input("{} is a folder; {} names a file", file.string(), option);
  const AtomicFile probe(file.string());  // throws where the folder is not writable; leaves nothing
}

namespace {

// The configuration that a search found, with what of `start` it does not change.
Config as_given(Config found, const Config& start) {
  found.train.threads = start.train.threads;
  found.data.test = start.data.test;
  return found;
}

// The options that decide the course of a search, besides its configuration, as a text to compare.
std::string text_of(const TuneOptions& options) {
  std::string text = fmt::format("{} {} {}", options.seconds, options.trials, options.train_seconds);
  for (const std::string& key : options.fixed) text += '\n' + key;
  return text;
}

// The configuration of the trials before data are read: without test data, which a search must not see, and
// without patience, of which it tells in `notes`.
Config searched_config(const Config& start, int threads, std::vector<std::string>& notes) {
  Config searched = start;
  searched.data.test.clear();
  searched.train.threads = static_cast<std::uint32_t>(threads);
  if (searched.train.patience > 0) {
    notes.push_back(
        fmt::format("train.patience = {} has no part in a search, which tries train.epochs; it becomes 0",
                    searched.train.patience));
    searched.train.patience = 0;
  }
  return searched;
}

// Writes the best configuration found so far, with the threads and test data of `start`; it survives any end
// of the search.
void write_best(const Config& training, const Trial& trial, const Config& start, const fs::path& file) {
  const std::vector<std::string> changes = trial.taken ? trial.changes : std::vector<std::string>();
  const Config best = parse_config(to_toml(training), "the configuration being tuned", changes);
  write_file(file.string(), to_toml(as_given(best, start)));
}

}  // namespace

TuneResult tune_to_file(const Config& start, const TuneOptions& options, const fs::path& file,
                        const TuneObserver& observer) {
  Cluster* cluster = options.cluster != nullptr && options.cluster->size() > 1 ? options.cluster : nullptr;
  const bool leads = cluster == nullptr || cluster->rank() == 0;
  if (leads) prepare_output(file, "--out");
  if (start.data.kind == DataKind::kInteractions && start.data.validation.file.empty())
    fail_input("of interactions, a search needs a file of held-out items; set data.validation=FILE");
  const int threads = own_threads(static_cast<int>(start.train.threads), cluster);
  std::vector<std::string> notes;
  const Config searched = searched_config(start, threads, notes);
  if (cluster != nullptr) {  // before any data are read
    const auto processes = static_cast<std::uint32_t>(cluster->size());
    require_same_config(*cluster, effective_config(searched, {.processes = processes}, &notes));
    require_same(*cluster, crc_32(0, text_of(options)), "search (its time, trials and fixed keys)");
  }
  const RunData data = read_together(searched, threads, false, cluster);
  notes.insert(notes.end(), data.notes.begin(), data.notes.end());
  for (const std::string& note : notes) {
    if (observer.note && !note.empty()) observer.note(note);
  }
  const Config training = effective_config(searched, facts_of(data.train, data.text.get(), cluster));
  if (cluster != nullptr) {
    require_same_data(*cluster, data);
    require_shared_evaluation(training);
  }
  const auto require = [&](const Config& config, const TrainingRows& rows) {
    require_memory(plan_run(config, rows, threads, rows.raw.samples(), cluster), cluster);
  };
  require_memory(plan_least(training, data.train, threads, cluster), cluster);
  if (observer.warnings) observer.warnings(data.warnings());  // not besides a refusal for want of memory
  require(training, TrainingRows(training, data.train, threads));
  TuneOptions used = options;
  used.validation = data.validation;
  used.require_memory = require;
  used.note = observer.note;
  TuneResult result = tune(training, data.train, used, [&](const Trial& trial) {
    if (trial.is_best && leads) write_best(training, trial, start, file);
    if (observer.trial) observer.trial(trial);
  });
  result.config = as_given(std::move(result.config), start);
  return result;
}

}  // namespace slide

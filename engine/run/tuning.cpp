#include "engine/run/tuning.h"

#include <system_error>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
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
  const AtomicFile probe(file.string());  // throws where the folder cannot be written to, and leaves nothing
}

TuneResult tune_to_file(const Config& start, const TuneOptions& options, const fs::path& file,
                        const TuneObserver& observer) {
  Cluster* cluster = options.cluster != nullptr && options.cluster->size() > 1 ? options.cluster : nullptr;
  const bool leads = cluster == nullptr || cluster->rank() == 0;
  if (leads) prepare_output(file, "--out");
  if (start.data.kind == DataKind::kInteractions && start.data.validation.file.empty())
    fail_input("of interactions, a search needs a file of held-out items; set data.validation=FILE");
  Config training = start;
  training.data.test.clear();
  std::vector<std::string> notes;
  if (cluster != nullptr) notes.push_back(part_among(*cluster, training));
  const int threads = own_threads(static_cast<int>(start.train.threads), cluster);
  training.train.threads = static_cast<std::uint32_t>(threads);
  const RunData data = read_together(training, threads, false, cluster);
  notes.insert(notes.end(), data.notes.begin(), data.notes.end());
  for (const std::string& note : notes) {
    if (observer.note && !note.empty()) observer.note(note);
  }
  if (cluster != nullptr) {
    require_same_run(*cluster, training, data);
    require_shared_evaluation(training);
  }
  fit_to_features(data.train, training);
  require_memory(plan_run(training, TrainingRows(training, data.train, threads), threads, cluster), cluster);
  TuneOptions used = options;
  used.validation = data.validation;
  TuneResult result = tune(training, data.train, used, observer.trial);
  result.config.train.threads = start.train.threads;
  result.config.data.test = start.data.test;
  if (leads) write_file(file.string(), to_toml(result.config));
  return result;
}

}  // namespace slide

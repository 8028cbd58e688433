#include "engine/run/tuning.h"

#include <system_error>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/network/memory_plan.h"
#include "engine/run/require_memory.h"
#include "engine/run/run_data.h"

namespace slide {

namespace {

namespace fs = std::filesystem;

// Before the search: a file that cannot be written would cost all of it.
void prepare_output(const fs::path& file) {
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  if (error) {
    fail_run("{}: the folder cannot be created ({}); give another --out", file.parent_path().string(),
             error.message());
  }
  if (fs::is_directory(file, error)) fail_input("{} is a folder; --out names a file", file.string());
}

}  // namespace

TuneResult tune_to_file(const Config& start, const TuneOptions& options, const fs::path& file,
                        const TuneObserver& observer) {
  prepare_output(file);
  Config training = start;
  training.data.test.clear();
  const int threads = static_cast<int>(start.train.threads);
  const RunData data = read_run_data(training, threads);
  if (observer.note) {
    for (const std::string& note : data.notes) observer.note(note);
  }
  require_memory(plan_memory(start, data.train.feature_count(), data.train.label_count(),
                             bounds_of(data.train, start.train.block_size), resolve_threads(threads)));
  TuneResult result = tune(start, data.train, options, observer.trial);
  write_file(file.string(), to_toml(result.config));
  return result;
}

}  // namespace slide

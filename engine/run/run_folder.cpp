#include "engine/run/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/input_file.h"
#include "engine/kernels/kernels.h"
#include "engine/model/registry.h"
#include "engine/run/machine.h"

namespace slide {

namespace fs = std::filesystem;

namespace {

void discard(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error)
    fail_run("{}: cannot be removed ({}); check the folder and its permissions", path.string(),
             error.message());
}

// Content of a file; empty where there is none. Throws for an unreadable file: its content decides what is
// removed.
std::string text_of(const fs::path& path) {
  if (access(path.c_str(), R_OK) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return "";
    fail_run("{}: cannot be read ({}); check the folder and its permissions", path.string(),
             std::generic_category().message(errno));
  }
  return read_text_file(path.string(), "check the folder and its permissions");
}

}  // namespace

RunFolder::~RunFolder() {
  if (lock_ >= 0) close(lock_);
}

void RunFolder::claim() {
  if (lock_ >= 0) return;
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A process killed a moment ago may still be releasing its memory and lock: tries for two seconds.
  constexpr int kTries = 100;
  constexpr std::chrono::milliseconds kBetween(20);
  for (int tries = 0; tries < kTries; ++tries) {
    if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    std::this_thread::sleep_for(kBetween);
  }
  fail_input("{}: another process trains into this folder; wait for it, or give another --out", name());
}

void RunFolder::require_free(bool replace) {
  require_writable();
  if (is_registry(name()))
    fail_input("{}: this is a registry of models (slide models); give another --out", name());
  claim();
  if (replace) return;
  if (has_finished()) {
    fail_input(
        "{}: a finished run is here; give another --out, or --force to train anew and keep it in {} "
        "(--resume goes on with stopped runs only)",
        name(), previous());
  }
  if (has_stopped()) {
    fail_input(
        "{}: a stopped run is here; go on with it by --resume {}, give another --out, or --force to train "
        "anew and replace it",
        name(), name());
  }
  if (const std::string model = any_model(); !model.empty()) {
    fail_input(
        "{}: a model is here, which training would replace; give another --out, or --force to replace it",
        model);
  }
}

// Checks the folder or its nearest existing ancestor.
void RunFolder::require_writable() const {
  std::error_code error;
  fs::path there = folder_;
  while (!there.empty() && !fs::exists(fs::symlink_status(there, error))) there = there.parent_path();
  if (there.empty()) there = ".";
  if (!fs::is_directory(there, error))
    fail_input("{}: {} is no folder; give another --out", name(), there.string());
  if (access(there.c_str(), W_OK | X_OK) != 0) {
    fail_run("{}: the folder {} cannot be written ({}); give another --out", name(), there.string(),
             std::generic_category().message(errno));
  }
}

bool RunFolder::begin(const Config& config, int threads) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) fail_run("{}: the folder cannot be created ({}); give another --out", name(), error.message());
  claim();
  tidy();
  const bool kept = keep_finished();
  const std::string text = to_toml(config);
  // Remove previous results first, and config.toml before them: they would count as this run's. An identical
  // config.toml stays, since a restarted run needs it.
  const bool same = text_of(this->config()) == text;
  if (!same) discard(this->config());
  write_environment(threads, false);
  for (const std::string& result : {checkpoint(), start(), best_model(), model(), events()}) discard(result);
  // Not overwritten in place: previous() may share the file. A symbolic link is written through.
  if (!fs::is_symlink(log(), error)) discard(log());
  if (!same) write_file(this->config(), text);
  return kept;
}

// Hard-links the files of a finished run into previous(); the originals stay. environment.json is removed
// first and added last, so that a partial copy is never marked finished.
bool RunFolder::keep_finished() const {
  if (!has_finished()) return false;
  std::error_code error;
  const fs::path to = previous();
  fs::create_directories(to, error);
  if (error)
    fail_run("{}: cannot be created ({}); remove it, or give another --out", previous(), error.message());
  const std::string files[] = {environment(), config(), log(), events(), best_model(), model()};
  for (const std::string& file : files) discard(to / fs::path(file).filename());
  for (auto file = std::rbegin(files); file != std::rend(files); ++file) {
    const fs::path copy = to / fs::path(*file).filename();
    if (!fs::exists(*file, error)) continue;
    fs::create_hard_link(*file, copy, error);
    if (error) fs::copy_file(*file, copy, error);  // file systems without hard links
    if (error) {
      fail_run("{}: the finished run cannot be kept ({}); make room, or give another --out", copy.string(),
               error.message());
    }
  }
  return true;
}

std::string RunFolder::model_before(const std::string& init) const {
  std::error_code ignored;
  if (fs::exists(model(), ignored) || !fs::exists(previous(), ignored)) return init;
  if (fs::equivalent(init, folder_, ignored)) return previous();
  const fs::path path(init);
  if (!fs::equivalent(path.parent_path(), folder_, ignored)) return init;
  return (fs::path(previous()) / path.filename()).string();
}

// Removes temporary files that a killed run has left (atomic_file.h).
void RunFolder::tidy() const {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    for (const std::string& of : {config(), model(), best_model(), checkpoint(), start(), environment()}) {
      if (name.starts_with(fs::path(of).filename().string() + ".") && name.ends_with(".tmp"))
        fs::remove(entry.path(), ignored);
    }
  }
}

void RunFolder::write_environment(int threads, bool finished) const {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "gcc " __VERSION__;
#endif
  const nlohmann::ordered_json facts = {{"version", SLIDE_VERSION},
                                        {"compiler", compiler},
                                        {"instruction_set", kernels::active().name},
                                        {"threads", threads},
                                        {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
                                        {"processor", processor_name()},
                                        {"date", utc_text(std::time(nullptr))},
                                        {"finished", finished}};
  write_file(environment(), facts.dump(2) + '\n');
}

bool RunFolder::has_checkpoint() const {
  std::error_code ignored;
  return fs::exists(checkpoint(), ignored);
}

bool RunFolder::is_finished() const {
  const std::string text = text_of(environment());
  if (foreign_json_fault(text)) return false;
  const auto facts = nlohmann::json::parse(text, nullptr, false);
  return facts.is_object() && facts.value("finished", nlohmann::json()) == nlohmann::json(true);
}

bool RunFolder::has_finished() const {
  std::error_code ignored;
  return is_finished() && fs::exists(config(), ignored) && fs::exists(model(), ignored);
}

bool RunFolder::has_stopped() const {
  std::error_code ignored;
  return has_checkpoint() && fs::exists(config(), ignored);
}

std::string RunFolder::any_model() const {
  std::error_code ignored;
  for (const std::string& file : {model(), best_model(), start()}) {
    if (fs::exists(fs::symlink_status(file, ignored))) return file;
  }
  return {};
}

}  // namespace slide

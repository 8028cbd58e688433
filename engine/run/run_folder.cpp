#include "engine/run/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/kernels/kernels.h"
#include "engine/run/foreign_text.h"

namespace slide {

namespace fs = std::filesystem;

RunFolder::~RunFolder() {
  if (lock_ >= 0) close(lock_);
}

void RunFolder::claim() {
  if (lock_ >= 0) return;
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A process that was killed a moment ago may still be giving its memory back.
  for (int tries = 0; tries < 100; ++tries) {
    if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  fail_input("{}: another process trains into this folder; wait for it, or give another --out", name());
}

void RunFolder::begin(const Config& config) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) fail_run("{}: the folder cannot be created ({}); give another --out", name(), error.message());
  claim();
  tidy();
  fs::remove(checkpoint(), error);
  if (error)
    fail_run("{}: cannot be removed ({}); check the folder and its permissions", checkpoint(),
             error.message());
  fs::remove(best_model(), error);
  write_file(this->config(), to_toml(config));
}

void RunFolder::tidy() const {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    for (const std::string& of : {config(), model(), best_model(), checkpoint(), environment()}) {
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
                                        {"finished", finished}};
  write_file(environment(), facts.dump(2) + '\n');
}

bool RunFolder::has_checkpoint() const {
  std::error_code ignored;
  return fs::exists(checkpoint(), ignored);
}

bool RunFolder::is_finished() const {
  std::ifstream file(environment());
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (nests_too_deep(text)) return false;
  const auto facts = nlohmann::json::parse(text, nullptr, false);
  return facts.is_object() && facts.value("finished", nlohmann::json()) == nlohmann::json(true);
}

}  // namespace slide

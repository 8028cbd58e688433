// Mutates fields of model files by the page of the format, mends length and checksum, and lets the library,
// the server, the commands and Python use each mutated model (model_uses.h). It must be accepted or refused
// with one line, within 10 s of processor time and memory of 10 times its bytes and 64 MB. A finding is
// printed with its number, which makes it again.
// usage: model_mutator [MODEL...] [--count N] [--first N] [--seed S] [--jobs J] [--found DIR] [--only N]
//   MODEL    model files, or names of kinds of its own; default: all of these
//   --count  mutations of each model (default 60); --first: number of the first (default 0)
//   --found  folder for models that are findings
//   --only   this mutation alone, in this process, for a debugger
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_meter.h"
#include "tests/fuzz/model_mutations.h"
#include "tests/fuzz/model_samples.h"
#include "tests/fuzz/model_uses.h"
#include "tests/fuzz/summed.h"

namespace slide::fuzz {
namespace {

constexpr double kMaxSeconds = 10;   // of processor time
constexpr double kMaxWaiting = 120;  // of wall time, where nothing is computed
// A model that is not loaded goes through loading and every sixth of the other uses, in turn.
constexpr std::uint64_t kUsesInTurn = 6;
constexpr std::size_t kFreeMemory = std::size_t{64} << 20, kMemoryTimes = 10;
constexpr int kMaxFindings = 20;  // of a worker

struct Options {
  std::vector<std::string> models;
  std::uint64_t count = 60, first = 0, seed = 1, only = ~std::uint64_t{0};
  unsigned jobs = 1;
  std::string found;
};

struct Target {
  TrainedModel trained;
  std::unique_ptr<ModelMutations> mutations;
};

// What a worker is about, in memory that it shares with the program.
struct Progress {
  std::atomic<std::uint64_t> number{0}, loaded{0};
  std::atomic<std::size_t> target{0}, use{0};
};

struct Totals {
  std::atomic<int> findings{0};
  std::atomic<std::uint64_t> loaded{0};
};

// Shared with processes that are forked later.
void* shared_memory(std::size_t bytes) {
  void* shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(shared != MAP_FAILED, "memory can be shared");
  return shared;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Standard output goes nowhere and standard error into `messages`.
void redirect(int messages) {
  std::fflush(stdout);
  check(dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 1) == 1 && dup2(messages, 2) == 2,
        "output can be redirected");
}

std::string messages_in(int file) {
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, lseek(file, 0, SEEK_END))), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return text;
}

// ---- in a process of its own ----

// Lets the uses have the model in `the_case`, mutation `number`; returns whether it is loaded.
bool use(const ModelCase& the_case, std::size_t file_bytes, std::uint64_t number, Progress& progress) {
  const std::vector<ModelUse>& uses = model_uses();
  bool loaded = false;
  for (std::size_t u = 0; u < uses.size(); ++u) {
    if (u > 0 && !loaded && (number + u) % kUsesInTurn != 0) continue;
    progress.use = u;
    begin_measuring();
    std::string message;
    const bool accepted = uses[u].run(the_case, message);
    const std::size_t peak = peak_bytes();
    if (peak > kMemoryTimes * file_bytes + kFreeMemory) {
      std::fprintf(stderr, "%zu bytes of memory for a model of %zu: ", peak, file_bytes);
      check(false, "memory is in proportion to the file");
    }
    if (u == 0) loaded = accepted;
  }
  return loaded;
}

// The model with the keys of its configuration alone: each use reads it, and comments are most of a small
// model's file.
std::string without_comments(std::string file) {
  std::istringstream lines(config_of(file).value_or(""));
  std::string config;
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find("  # "), line.size()));
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty() && line.front() != '#') config += line + '\n';
  }
  replace_config(file, config);
  unseal(file);
  seal(file);
  return file;
}

ModelCase case_of(const Target& target, const std::string& folder, int messages) {
  std::filesystem::create_directories(folder);
  const Layout& layout = target.mutations->layout();
  std::string label = "0";
  if (layout.first_label_name != kNoField) {
    const Field& name = layout.fields[layout.first_label_name + 1];
    label = target.mutations->file().substr(name.at, name.bytes());
  }
  return {folder + "/model.slide", target.trained.samples, folder, label, layout.text_form >= 2, messages};
}

// The model itself must be accepted by all, or the mutations say nothing; but quantized models are not
// averaged.
void use_unchanged(const Target& target, const ModelCase& the_case, Progress& progress) {
  write_bytes(the_case.model, target.mutations->file());
  for (std::size_t u = 0; u < model_uses().size(); ++u) {
    progress.use = u;
    std::string message;
    const bool quantized = (target.mutations->layout().flags & (kBf16 | kInt8)) != 0;
    if (model_uses()[u].run(the_case, message) || (quantized && model_uses()[u].name == "average")) continue;
    check(false, "the unchanged model is accepted");
  }
}

void use_mutated(const Target& target, const Options& options, std::uint64_t number,
                 const ModelCase& the_case, Progress& progress) {
  const Mutated mutated = target.mutations->mutate(options.seed, number);
  write_bytes(the_case.model, mutated.file);
  if (use(the_case, mutated.file.size(), number, progress)) ++progress.loaded;
}

// ---- the program ----

class Worker {
 public:
  Worker(const Options& options, const std::vector<Target>& targets, const std::string& folder, unsigned job)
      : options_(options),
        targets_(targets),
        folder_(folder + "/job" + std::to_string(job)),
        job_(job),
        messages_(memfd_create("messages", MFD_CLOEXEC)) {
    check(messages_ >= 0, "a file in memory can be made");
  }

  // Runs its share of the mutations in processes, one after the other where they end; returns the number of
  // findings.
  int run() {
    for (std::size_t t = 0; t < targets_.size() && findings_ < kMaxFindings; ++t) run_target(t);
    return findings_;
  }
  std::uint64_t loaded() const { return progress_->loaded; }

 private:
  void run_target(std::size_t t) {
    progress_->target = t;
    for (std::uint64_t next = options_.first + job_; next < end() && findings_ < kMaxFindings;) {
      const pid_t process = fork();
      check(process >= 0, "a process can be started");
      if (process == 0) {
        redirect(messages_);
        work(t, next);
        _exit(0);  // what a sanitizer says of leaks at an end is not of interest
      }
      if (ended_well(process)) return;
      ++findings_;
      next = progress_->number + options_.jobs;
    }
  }

  std::uint64_t end() const { return options_.first + options_.count; }

  void work(std::size_t t, std::uint64_t first) {
    const ModelCase the_case = case_of(targets_[t], folder_, messages_);
    progress_->number = first;
    if (first == options_.first + job_) use_unchanged(targets_[t], the_case, *progress_);
    for (std::uint64_t n = first; n < end(); n += options_.jobs) {
      progress_->number = n;
      use_mutated(targets_[t], options_, n, the_case, *progress_);
    }
  }

  bool ended_well(pid_t process) {
    clockid_t clock{};
    const bool known = clock_getcpuclockid(process, &clock) == 0;
    std::uint64_t at = ~std::uint64_t{0};
    double busy_before = 0, waited = 0;
    int status = 0;
    while (waitpid(process, &status, WNOHANG) == 0) {
      timespec used{};
      if (known) clock_gettime(clock, &used);
      const double busy = double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
      if (at != progress_->number) at = progress_->number, busy_before = busy, waited = 0;
      if (busy - busy_before > kMaxSeconds || waited > kMaxWaiting) return stop(process);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      waited += 0.01;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    print_finding(WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended the process");
    return false;
  }

  bool stop(pid_t process) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    print_finding("it takes too long");
    return false;
  }

  void print_finding(const char* why) {
    const Target& target = targets_[progress_->target];
    const std::uint64_t number = progress_->number;
    const Mutated mutated = target.mutations->mutate(options_.seed, number);
    std::printf("FINDING %s --seed %llu --only %llu, %s: %s\n  %s\n%s\n", target.trained.name.c_str(),
                static_cast<unsigned long long>(options_.seed), static_cast<unsigned long long>(number),
                model_uses()[progress_->use].name.c_str(), why, mutated.what.c_str(),
                messages_in(messages_).c_str());
    std::fflush(stdout);
    if (options_.found.empty()) return;
    std::filesystem::create_directories(options_.found);
    const std::string name = std::filesystem::path(target.trained.name).filename().string();
    write_bytes(options_.found + "/" + name + "-" + std::to_string(number) + ".slide", mutated.file);
  }

  const Options& options_;
  const std::vector<Target>& targets_;
  const std::string folder_;
  const unsigned job_;
  const int messages_;
  Progress* progress_ = new (shared_memory(sizeof(Progress))) Progress;
  int findings_ = 0;
};

// Makes the models in a process of its own: threads of OpenMP do not outlive a fork.
void make_models_apart(const std::string& folder) {
  const int messages = memfd_create("messages", MFD_CLOEXEC);
  const pid_t process = fork();
  if (process == 0) {
    const int errors = dup(2);
    redirect(messages);
    try {
      make_models(folder, messages);
    } catch (const Error& error) {
      dprintf(errors, "%s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(process, &status, 0);
  if (status != 0) std::fprintf(stderr, "%s\n", messages_in(messages).c_str());
  check(process > 0 && status == 0, "models can be trained");
}

std::vector<Target> targets_of(const Options& options, const std::string& folder) {
  std::vector<Target> targets;
  const auto asked = [&](const std::string& name) {
    return options.models.empty() || std::count(options.models.begin(), options.models.end(), name) > 0;
  };
  std::filesystem::create_directories(folder);
  make_models_apart(folder);
  for (TrainedModel& trained : models_in(folder)) {
    if (!asked(trained.name)) continue;
    auto mutations = std::make_unique<ModelMutations>(without_comments(bytes_of(trained.model)));
    targets.push_back({std::move(trained), std::move(mutations)});
  }
  for (const std::string& name : options.models) {
    if (std::count(model_kinds().begin(), model_kinds().end(), name) > 0) continue;
    auto mutations = std::make_unique<ModelMutations>(bytes_of(name));
    const std::string own = folder + "/samples" + std::to_string(targets.size());
    std::filesystem::create_directories(own);
    const std::string samples = write_samples(own, mutations->file(), mutations->layout());
    targets.push_back({{name, name, samples}, std::move(mutations)});
  }
  return targets;
}

Options options_of(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool is_option = word.rfind("--", 0) == 0;
    if (!is_option) options.models.push_back(word);
    if (!is_option) continue;
    if (++i == count) fail_input("{} needs a value", word);
    const std::string value = arguments[i];
    if (word == "--found")
      options.found = value;
    else if (word == "--count")
      options.count = std::stoull(value);
    else if (word == "--first")
      options.first = std::stoull(value);
    else if (word == "--seed")
      options.seed = std::stoull(value);
    else if (word == "--only")
      options.only = std::stoull(value);
    else if (word == "--jobs")
      options.jobs = static_cast<unsigned>(std::max(1, std::stoi(value)));
    else
      fail_input("unknown option {}", word);
  }
  return options;
}

int use_one(const Options& options, const std::vector<Target>& targets, const std::string& folder) {
  for (const Target& target : targets) {
    const Mutated mutated = target.mutations->mutate(options.seed, options.only);
    const ModelCase the_case = case_of(target, folder + "/only", kNotRedirected);
    write_bytes(the_case.model, mutated.file);
    if (!options.found.empty()) write_bytes(options.found, mutated.file);
    std::fprintf(stderr, "%s: %s\n", target.trained.name.c_str(), mutated.what.c_str());
    for (const ModelUse& one : model_uses()) {
      std::string message;
      begin_measuring();
      const bool accepted = one.run(the_case, message);
      std::fprintf(stderr, "%s: %s, %zu bytes\n  %s\n", one.name.c_str(), accepted ? "accepted" : "refused",
                   peak_bytes(), message.c_str());
    }
  }
  return 0;
}

int run(const Options& options) {
  const Folder folder;
  const std::vector<Target> targets = targets_of(options, folder.path("models"));
  for (const Target& target : targets)
    std::printf("%s: flags %u, %zu bytes, %zu planned mutations\n", target.trained.name.c_str(),
                target.mutations->layout().flags, target.mutations->file().size(),
                target.mutations->planned());
  std::fflush(stdout);
  if (options.only != ~std::uint64_t{0}) return use_one(options, targets, folder.path("models"));
  auto* const totals = new (shared_memory(sizeof(Totals))) Totals;
  std::vector<pid_t> jobs;
  for (unsigned job = 0; job < options.jobs; ++job) {
    jobs.push_back(fork());
    check(jobs.back() >= 0, "a process can be started");
    if (jobs.back() > 0) continue;
    Worker worker(options, targets, folder.path("models"), job);
    totals->findings += worker.run();
    totals->loaded += worker.loaded();
    _exit(0);
  }
  for (const pid_t job : jobs) {
    int status = 0;
    check(waitpid(job, &status, 0) == job && status == 0, "a job ends well");
  }
  std::printf("%llu mutations of each, %llu loaded, %d findings\n",
              static_cast<unsigned long long>(options.count),
              static_cast<unsigned long long>(totals->loaded.load()), totals->findings.load());
  return totals->findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace slide::fuzz

int main(int argument_count, char** arguments) {
  try {
    return slide::fuzz::run(slide::fuzz::options_of(argument_count, arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model_mutator: %s\n", error.what());
    return 2;
  }
}

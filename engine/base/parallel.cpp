#include "engine/base/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <chrono>
#include <cstring>

#include "engine/base/error.h"

namespace slide {

namespace {

thread_local Team* current_team = nullptr;

constexpr auto kSpin = std::chrono::microseconds(50);

inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `value` differs from `old`: spins first, then sleeps.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < end);
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

int available_threads() {
  return omp_get_max_threads();
}

int current_thread() {
  return omp_get_thread_num();
}

int team_size() {
  return omp_get_num_threads();
}

int resolve_threads(int requested) {
  return requested > 0 ? requested : available_threads();
}

Team* Team::current() {
  return current_team;
}

Team::Scope::Scope(Team* team) : before_(current_team) {
  current_team = team;
}
Team::Scope::~Scope() {
  current_team = before_;
}

namespace {

thread_local int startable = 1;  // threads of the largest team that this thread was found to be able to start

// Waits until its starter unlocks the gate.
void* pass_gate(void* gate) {
  auto* mutex = static_cast<pthread_mutex_t*>(gate);
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  return nullptr;
}

// Starts `count` threads that exist at once, and joins them. Returns errno or 0.
int try_threads(int count) {
  std::vector<pthread_t> started;
  started.reserve(static_cast<std::size_t>(count));
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&gate);
  int error = 0;
  for (pthread_t thread; count-- > 0 && error == 0;) {
    error = pthread_create(&thread, nullptr, pass_gate, &gate);
    if (error == 0) started.push_back(thread);
  }
  pthread_mutex_unlock(&gate);
  for (const pthread_t thread : started) pthread_join(thread, nullptr);
  return error;
}

}  // namespace

void require_threads(int threads) {
  if (threads <= startable || omp_in_parallel() != 0) return;
  if (const int error = try_threads(threads - 1); error != 0) {
    fail_run(
        "out of memory or processes: {} threads cannot be started ({}); set fewer threads, or raise the "
        "limits (ulimit -v, ulimit -u)",
        threads, std::strerror(error));
  }
  startable = threads;
}

namespace {

// Total number of groups of the combining tree for `members` workers.
std::size_t groups_of(std::size_t members, std::size_t size) {
  const std::size_t groups = (members + size - 1) / size;
  return groups <= 1 ? 1 : groups + groups_of(groups, size);
}

}  // namespace

// Builds the combining tree level by level: groups of kGroup workers, then groups of kGroup groups, up to
// the root.
Team::Team(int threads)
    : threads_(threads), groups_(groups_of(static_cast<std::size_t>(std::max(threads, 1)) - 1, kGroup)) {
  std::size_t members = static_cast<std::size_t>(std::max(threads, 1)) - 1;
  for (std::size_t first = 0, groups; first < groups_.size(); first += groups, members = groups) {
    groups = std::max<std::size_t>((members + kGroup - 1) / kGroup, 1);
    for (std::size_t i = 0; i < groups; ++i) {
      Group& group = groups_[first + i];
      group.members = static_cast<int>(std::min(kGroup, members - i * kGroup));
      group.busy.store(group.members, std::memory_order_relaxed);
      group.above = first + groups + i / kGroup;
    }
  }
}

// The last worker of a group resets it for the next job before it counts down in the parent.
void Team::end_job(int thread) {
  std::size_t at = static_cast<std::size_t>(thread - 1) / kGroup;
  while (groups_[at].busy.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    if (at + 1 == groups_.size()) return groups_[at].busy.notify_one();
    groups_[at].busy.store(groups_[at].members, std::memory_order_relaxed);
    at = groups_[at].above;
  }
}

// A new round_ releases the workers; the caller does its own share, then waits for the root of the tree.
void Team::run(Job job, void* context) {
  job_ = job;
  context_ = context;
  std::atomic<int>& busy = groups_.back().busy;
  busy.store(groups_.back().members, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  {
    const Scope alone(nullptr);  // nested parallel calls of the job do not use this team
    job(context, 0);
  }
  for (int left; (left = busy.load(std::memory_order_acquire)) > 0;) wait_while(busy, left);
}

void Team::serve(int thread) {
  for (unsigned seen = 0;; ++seen) {
    wait_while(round_, seen);
    if (job_ == nullptr) return;
    job_(context_, thread);
    end_job(thread);
  }
}

void Team::stop() {
  job_ = nullptr;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

}  // namespace slide

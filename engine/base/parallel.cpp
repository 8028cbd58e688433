#include "engine/base/parallel.h"

#include <omp.h>

#include <chrono>

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

// Waits until `value` is no longer `old`: spins first, then sleeps.
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

void Team::run(Job job, void* context) {
  job_ = job;
  context_ = context;
  busy_.store(threads_ - 1, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  {
    const Scope alone(nullptr);  // a job's own parallel calls do not come back here
    job(context, 0);
  }
  for (int left; (left = busy_.load(std::memory_order_acquire)) > 0;) wait_while(busy_, left);
}

void Team::serve(int thread) {
  for (unsigned seen = 0;; ++seen) {
    wait_while(round_, seen);
    if (job_ == nullptr) return;
    job_(context_, thread);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void Team::stop() {
  job_ = nullptr;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

}  // namespace slide

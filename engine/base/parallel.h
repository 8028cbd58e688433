// Thread teams over OpenMP. The only place of the project that opens parallel regions, so that one rule
// holds everywhere: an exception thrown by a worker is carried out of the region and rethrown by the caller.
#pragma once

#include <cstddef>
#include <exception>
#include <mutex>

namespace slide {

// Number of threads the machine offers this process (respects OMP_NUM_THREADS and the CPU affinity mask).
int available_threads();

// Index of the calling thread in its team, 0 outside a parallel region.
int current_thread();

// `requested` if positive, else available_threads().
int resolve_threads(int requested);

// Keeps the first exception thrown by any thread of a team. Thread-safe.
class ExceptionCarrier {
 public:
  template <class F>
  void guard(F&& body) noexcept {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
    }
  }
  void rethrow() {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

// Calls body(thread) once on each of `threads` threads and waits for all of them.
template <class F>
void parallel_run(int threads, F&& body) {
  if (threads <= 1) {
    body(0);
    return;
  }
  ExceptionCarrier carrier;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int thread = 0; thread < threads; ++thread) carrier.guard([&] { body(thread); });
  carrier.rethrow();
}

// Calls body(index, thread) for every index in [0, count); indices are handed out one at a time, so uneven
// bodies balance. The assignment of indices to threads is not deterministic: a body may depend on `thread`
// only for scratch memory.
template <class F>
void parallel_for(std::size_t count, int threads, F&& body) {
  if (threads <= 1 || count <= 1) {
    for (std::size_t index = 0; index < count; ++index) body(index, 0);
    return;
  }
  ExceptionCarrier carrier;
#pragma omp parallel num_threads(threads)
  {
    const int thread = current_thread();
#pragma omp for schedule(dynamic, 1)
    for (std::size_t index = 0; index < count; ++index) carrier.guard([&] { body(index, thread); });
  }
  carrier.rethrow();
}

}  // namespace slide

// Thread teams over OpenMP. The only file that opens parallel regions, so that one rule holds everywhere: an
// exception thrown by a worker is carried out of the region and rethrown by the caller.
//
// A training step takes a few hundred microseconds and has several parallel phases. with_team() keeps one
// OpenMP region open around many phases: workers spin for some tens of microseconds before they sleep, so
// that consecutive phases need no system calls on an idle machine, and a busy machine loses microseconds per
// phase instead of the milliseconds for which an OpenMP runtime spins.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/base/interruption.h"
#include "engine/base/pinning.h"
#include "engine/base/task_log.h"

namespace slide {

// Number of threads the machine offers this process (respects OMP_NUM_THREADS and the CPU affinity mask).
int available_threads();

// Index of the calling thread in its team, 0 outside a parallel region.
int current_thread();

// Number of threads in the calling thread's team, 1 outside a parallel region.
int team_size();

// `requested` if positive, else available_threads().
int resolve_threads(int requested);

// Throws Error where the calling thread cannot start a team of `threads` threads, for want of memory or of
// processes (ulimit -v and -u). The OpenMP runtime would end the program. Tries each number once, by starting
// and joining so many threads; costs some 20 us a thread.
void require_threads(int threads);

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

// The workers of an open with_team() region. Jobs must not throw and must not start jobs.
class Team {
 public:
  using Job = void (*)(void* context, int thread);

  explicit Team(int threads);
  // The team of the calling thread, or nullptr.
  static Team* current();

  int threads() const { return threads_; }
  // Runs job(context, t) on every thread t of the team, the caller being thread 0, and waits for all.
  void run(Job job, void* context);
  // Body of a worker: runs jobs until stop().
  void serve(int thread);
  void stop();

  // Makes `team` the calling thread's current one, for the lifetime of the guard.
  class Scope {
   public:
    explicit Scope(Team* team);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Team* before_;
  };

 private:
  const int threads_;
  Job job_ = nullptr;  // nullptr while serving = stop
  void* context_ = nullptr;
  alignas(64) std::atomic<unsigned> round_{0};  // grows by one with each job

  // Workers count down in groups at the end of a job, to avoid contention on one counter: the last worker of
  // a group counts down in the group above, up to the root, on which the caller waits (combining tree of Yew,
  // Tzeng and Lawrie 1987; release by one word as in Mellor-Crummey and Scott 1991).
  static constexpr std::size_t kGroup = 4;
  struct alignas(64) Group {
    std::atomic<int> busy{0};  // members that still work
    int members = 0;
    std::size_t above = 0;  // index of its parent group
  };
  void end_job(int thread);
  std::vector<Group> groups_;  // of workers, then of groups; the root is last
};

// Calls body() on the calling thread while threads - 1 workers wait for its parallel_run() and parallel_for()
// calls with the same `threads`. Where the OpenMP runtime provides fewer threads (as inside another parallel
// region), these calls work as without a team.
template <class F>
void with_team(int threads, F&& body) {
  if (threads <= 1 || TaskLog::current() != nullptr) {
    body();
    return;
  }
  require_threads(threads);
  Team team(threads);
  ExceptionCarrier carrier;
#pragma omp parallel num_threads(threads)
  {
    const int thread = current_thread();
    const PinnedThread pinned(thread);
    if (thread == 0) {
      const Team::Scope scope(team_size() == threads ? &team : nullptr);
      carrier.guard(body);
      team.stop();
    } else {
      team.serve(thread);
    }
  }
  carrier.rethrow();
}

// Calls body(thread) once on each of `threads` threads and waits for all of them.
template <class F>
void parallel_run(int threads, F&& body) {
  if (threads <= 1) {
    body(0);
    return;
  }
  require_threads(threads);
  ExceptionCarrier carrier;
  if (Team* team = Team::current(); team != nullptr && team->threads() == threads) {
    struct Context {
      ExceptionCarrier& carrier;
      std::remove_reference_t<F>& body;
    } context{carrier, body};
    const auto run_body = [](void* erased, int thread) {
      Context& shared = *static_cast<Context*>(erased);
      shared.carrier.guard([&] { shared.body(thread); });
    };
    team->run(run_body, &context);
  } else {
#pragma omp parallel num_threads(threads)
    {
      const PinnedThread pinned(current_thread());
#pragma omp for schedule(static, 1) nowait
      for (int thread = 0; thread < threads; ++thread) carrier.guard([&] { body(thread); });
    }
  }
  carrier.rethrow();
}

// Distributes the indices [0, count), each once. Each thread starts with its own contiguous range (shared by
// several threads where there are more than 64); then it takes indices from other ranges, for load balance.
// Equal counts and threads give equal ranges, for cache reuse. Thread-safe.
class Indices {
 public:
  Indices(std::size_t count, int threads) : size_(ranges(threads)) {
    for (std::size_t i = 0; i < size_; ++i) {
      ranges_[i].next.store(count * i / size_, std::memory_order_relaxed);
      ranges_[i].end = count * (i + 1) / size_;
    }
  }

  // Number of ranges for `threads` threads.
  static std::size_t ranges(int threads) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(threads), 1, kMax);
  }

  // Takes the next index for `thread`; returns false when none is left.
  bool take(int thread, std::size_t& index) {
    for (std::size_t i = 0; i < size_; ++i) {
      Range& range = ranges_[(static_cast<std::size_t>(thread) + i) % size_];
      if (range.next.load(std::memory_order_relaxed) >= range.end) continue;
      index = range.next.fetch_add(1, std::memory_order_relaxed);
      if (index < range.end) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kMax = 64;
  struct alignas(64) Range {
    std::atomic<std::size_t> next;
    std::size_t end;
  };

  std::size_t size_;
  std::array<Range, kMax> ranges_;
};

// Whether the thread of a parallel_for() shall take no further index.
inline bool ends_early(Interruption* interruption, int thread) {
  if (interruption == nullptr) return false;
  return thread == 0 ? interruption->ask() : interruption->is_wanted();
}

// Calls body(index, thread) for every index in [0, count), one at a time. Indices are assigned to threads
// dynamically: a body may use `thread` only to select scratch memory. After an exception, the remaining
// indices are still visited. Under a TaskLog, the caller runs all of them. Under an Interruption that is
// wanted, no further indices are visited, and Interrupted is thrown.
template <class F>
void parallel_for(std::size_t count, int threads, F&& body) {
  if (TaskLog* log = TaskLog::current()) return log->run(count, body);
  Interruption* const interruption = Interruption::current();
  if (threads <= 1 || count <= 1) {
    for (std::size_t index = 0; index < count; ++index) {
      if (ends_early(interruption, 0)) throw Interrupted();
      body(index, 0);
    }
    return;
  }
  ExceptionCarrier carrier;
  Indices indices(count, threads);
  parallel_run(threads, [&](int thread) {
    for (std::size_t index = 0; !ends_early(interruption, thread) && indices.take(thread, index);)
      carrier.guard([&] { body(index, thread); });
  });
  carrier.rethrow();
  if (interruption != nullptr && interruption->is_wanted()) throw Interrupted();
}

// The ends of the ranges of Indices: thread t of parallel_for() starts in [ends[t - 1], ends[t]).
inline std::vector<std::size_t> even_ends(std::size_t count, int threads) {
  std::vector<std::size_t> ends(Indices::ranges(threads));
  for (std::size_t t = 0; t < ends.size(); ++t) ends[t] = count * (t + 1) / ends.size();
  return ends;
}

// Static schedule: calls body(index) for every index below ends.back(); thread t runs exactly [ends[t - 1],
// ends[t]). For first-touch placement of memory on the thread's NUMA node. `ends` has
// Indices::ranges(threads) elements and determines the balance. Under a TaskLog, the caller runs all
// indices.
template <class F>
void parallel_owned(std::span<const std::size_t> ends, int threads, F&& body) {
  if (threads <= 1 || TaskLog::current() != nullptr)
    return parallel_for(ends.back(), threads, [&](std::size_t index, int) { body(index); });
  parallel_run(threads, [&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    if (t >= ends.size()) return;
    for (std::size_t index = t == 0 ? 0 : ends[t - 1]; index < ends[t]; ++index) body(index);
  });
}

// Static interleaved schedule: thread t runs the indices t, t + threads, ...; spreads memory that all threads
// use equally over their NUMA nodes.
template <class F>
void parallel_in_turns(std::size_t count, int threads, F&& body) {
  const std::size_t turns = Indices::ranges(threads);
  parallel_owned(even_ends(turns, threads), threads, [&](std::size_t turn) {
    for (std::size_t index = turn; index < count; index += turns) body(index);
  });
}

}  // namespace slide

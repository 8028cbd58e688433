// Threads that stay on their core. On a machine with several memory nodes a thread that the system moves to
// another node has its memory far away from then on.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace slide {

// Processors that a thread may run on, a bit each; the kernel has at most so many.
using ProcessorMask = std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))>;

// The processors that the calling thread may run on, also as their numbers, ascending; none if the kernel
// does not tell.
ProcessorMask allowed_mask();
std::vector<int> allowed_processors();

// `processors` in the order in which threads get them: one of each core of the first memory node, then of the
// next, and when all cores have one their other processors (hyperthreads), node after node again. `system`:
// the kernel's description of the machine; a processor that it does not tell of is a core of its own, on the
// first node.
std::vector<int> pin_order(std::span<const int> processors,
                           const std::string& system = "/sys/devices/system");

// Of `processors` those of the `part`-th of `parts` processes that share them, about as many for each: a run
// of neighbouring cores with all their processors, memory node after memory node. `system`: as above.
std::vector<int> share_of(std::span<const int> processors, std::size_t part, std::size_t parts,
                          const std::string& system = "/sys/devices/system");

class PinnedThread;

// While it exists, thread t of each parallel region (parallel.h) runs on the t-th of some processors in
// pin_order(), and where it did before when the region ends. Threads beyond the last one stay free. There may
// be one at a time, made and destroyed on one thread, outside of regions.
class Pinning {
 public:
  // `processors`: those, which the calling thread may use. Throws InputError if they are less than `threads`,
  // Error if the system refuses.
  Pinning(std::span<const int> processors, int threads);
  ~Pinning();
  Pinning(const Pinning&) = delete;
  Pinning& operator=(const Pinning&) = delete;

  // The processor of each thread, or nullptr where threads are free.
  static const std::vector<int>* current() { return current_.load(std::memory_order_acquire); }

 private:
  static std::atomic<const std::vector<int>*> current_;
  std::vector<int> order_;
  std::unique_ptr<PinnedThread> alone_;  // a single thread opens no regions
};

// Binds the calling thread, which each thread of a region does at its start. Within a region in another one
// nothing changes.
class PinnedThread {
 public:
  explicit PinnedThread(int thread) {
    if (const std::vector<int>* order = Pinning::current()) bind(*order, thread);
  }
  ~PinnedThread() {
    if (bound_) restore();
  }
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;

 private:
  void bind(const std::vector<int>& order, int thread);
  void restore();

  bool bound_ = false;
  ProcessorMask before_;  // if it is bound
};

}  // namespace slide

// CPU pinning of threads. On a machine with several NUMA nodes, a thread that the scheduler moves to another
// node loses local access to its memory.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace slide {

// Set of processors, one bit each, up to the kernel's maximum.
using ProcessorMask = std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))>;

// The processors that the calling thread may run on, as a mask or as ascending numbers; empty where the
// kernel does not say.
ProcessorMask allowed_mask();
std::vector<int> allowed_processors();

// `processors` in the order of assignment to threads: one per core, NUMA node by NUMA node; then the
// remaining hyperthreads, node by node again. `system`: the kernel's machine description; a processor that it
// does not list counts as a core of its own on the first node.
std::vector<int> pin_order(std::span<const int> processors,
                           const std::string& system = "/sys/devices/system");

// The share of process `part` of `parts` processes on one machine: adjacent cores with all their
// hyperthreads, in NUMA node order, about equally many each. `system` as above.
std::vector<int> share_of(std::span<const int> processors, std::size_t part, std::size_t parts,
                          const std::string& system = "/sys/devices/system");

class PinnedThread;

// While it exists, thread t of each parallel region (parallel.h) is bound to processor t of pin_order(), and
// gets its previous mask back at the end of the region. Threads beyond the last processor are not bound. At
// most one Pinning at a time, constructed and destroyed on one thread, outside of regions.
class Pinning {
 public:
  // `processors` must be allowed for the calling thread. Throws InputError where there are fewer than
  // `threads`, Error where the system refuses.
  Pinning(std::span<const int> processors, int threads);
  ~Pinning();
  Pinning(const Pinning&) = delete;
  Pinning& operator=(const Pinning&) = delete;

  // The processor of each thread, or nullptr without pinning.
  static const std::vector<int>* current() { return current_.load(std::memory_order_acquire); }

 private:
  static std::atomic<const std::vector<int>*> current_;
  std::vector<int> order_;
  std::unique_ptr<PinnedThread> alone_;  // for single-threaded runs, which open no regions
};

// Binds the calling thread; each thread of a region creates one at its start. No effect in nested regions.
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
  ProcessorMask before_;  // if bound_
};

}  // namespace slide

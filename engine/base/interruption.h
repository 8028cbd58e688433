// Interruption of long work from outside, as by Ctrl-C in Python: parallel_for() asks between two indices
// whether to stop, and throws Interrupted if so.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

namespace slide {

// Thrown by parallel_for(). Not derived from std::exception, so that only the code that set up the
// Interruption catches it.
struct Interrupted {};

// While an Interruption lives, parallel_for() on this thread asks it. Interruptions nest: the innermost is
// asked.
class Interruption {
 public:
  // `wanted` returns whether an interruption is wanted; called on this thread, at most every 20 ms.
  explicit Interruption(std::function<bool()> wanted);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // The interruption of the calling thread, or nullptr.
  static Interruption* current();
  // Disables the interruption of the calling thread, which has a result to keep.
  static void end();

  // Whether the work shall end: calls `wanted` if the last call is 20 ms ago. Only on the thread that
  // constructed this.
  bool ask();
  // The last answer of `wanted`. From any thread.
  bool is_wanted() const { return is_wanted_.load(std::memory_order_relaxed); }

 private:
  std::function<bool()> wanted_;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::atomic<bool> is_wanted_{false};
  Interruption* before_;
};

}  // namespace slide

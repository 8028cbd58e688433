// Profile of parallel work: the time of each task of each parallel_for() and of the serial work between. With
// the cost of starting and ending parallel work, it predicts the run time for any number of threads. One log
// at a time per thread, for work that this thread starts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace slide {

class TaskLog {
 public:
  // One parallel_for().
  struct Region {
    double before = 0.0;    // seconds of serial work since the previous region
    std::size_t tasks = 0;  // number of its tasks
  };

  // While it lives, parallel_for() on this thread runs its tasks itself, in order, for any number of threads;
  // it stops at the first task that throws.
  TaskLog();
  ~TaskLog();
  TaskLog(const TaskLog&) = delete;
  TaskLog& operator=(const TaskLog&) = delete;

  // The open log of this thread, or nullptr.
  static TaskLog* current();

  // Regions since construction or the last clear(); and the seconds of all their tasks, in order.
  std::span<const Region> regions() const { return regions_; }
  std::span<const double> seconds() const { return seconds_; }
  double after() const;  // seconds since the last region
  void clear();

  // For parallel_for(): runs body(index, 0) for every index. A nested call counts as part of the outer task.
  template <class F>
  void run(std::size_t count, F&& body) {
    if (inside_) return run_plain(count, body);
    const Inside inside(*this);
    regions_.push_back({lap(), 0});
    for (std::size_t index = 0; index < count; ++index) {
      body(index, 0);
      seconds_.push_back(lap());
      ++regions_.back().tasks;
    }
  }

 private:
  struct Inside {
    explicit Inside(TaskLog& log) : log_(log) { log.inside_ = true; }
    ~Inside() { log_.inside_ = false; }
    TaskLog& log_;
  };

  template <class F>
  static void run_plain(std::size_t count, F&& body) {
    for (std::size_t index = 0; index < count; ++index) body(index, 0);
  }
  double lap();

  std::vector<Region> regions_;
  std::vector<double> seconds_;
  std::chrono::steady_clock::time_point last_;
  bool inside_ = false;
};

// Seconds that `threads` threads need for tasks of the given seconds under greedy list scheduling (Graham
// 1966: at most work / threads + span).
double greedy_makespan(std::span<const double> seconds, std::size_t threads);

}  // namespace slide

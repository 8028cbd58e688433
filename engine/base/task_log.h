// What parallel work consists of: each task of each parallel_for(), timed by itself, and the work between
// them. From it, and the cost of starting and ending parallel work, follows how long any number of threads
// would take. One log at a time for a thread, of what that thread starts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace slide {

class TaskLog {
 public:
  // A parallel_for().
  struct Region {
    double before = 0.0;    // seconds on one thread since the last one
    std::size_t tasks = 0;  // that it has
  };

  // While it lives, parallel_for() on this thread does its tasks itself, in order and one by one, whatever
  // number of threads is asked for; up to the first that throws.
  TaskLog();
  ~TaskLog();
  TaskLog(const TaskLog&) = delete;
  TaskLog& operator=(const TaskLog&) = delete;

  // The log that is open on this thread, or nullptr.
  static TaskLog* current();

  // Since the beginning, or the last clear(); the seconds of all tasks in the order of regions.
  std::span<const Region> regions() const { return regions_; }
  std::span<const double> seconds() const { return seconds_; }
  double after() const;  // seconds since the last region
  void clear();

  // Of parallel_for(): runs body(index, 0) for every index. One inside another's task is a part of that task.
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

// Seconds that `threads` threads would take for tasks of these seconds: each takes the next one when it is
// done with one (Graham 1966: at most work / threads + span).
double greedy_makespan(std::span<const double> seconds, std::size_t threads);

}  // namespace slide

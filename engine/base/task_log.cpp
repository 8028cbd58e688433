#include "engine/base/task_log.h"

#include <algorithm>
#include <functional>

namespace slide {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

thread_local TaskLog* current_log = nullptr;

}  // namespace

TaskLog* TaskLog::current() {
  return current_log;
}

TaskLog::TaskLog() : last_(Clock::now()) {
  current_log = this;
}

TaskLog::~TaskLog() {
  current_log = nullptr;
}

double TaskLog::after() const {
  return seconds_between(last_, Clock::now());
}

void TaskLog::clear() {
  regions_.clear();
  seconds_.clear();
  last_ = Clock::now();
}

double TaskLog::lap() {
  const Clock::time_point now = Clock::now();
  const double seconds = seconds_between(last_, now);
  last_ = now;
  return seconds;
}

// Gives each task, in order, to the thread that is free first; a min-heap holds when threads are free.
double greedy_makespan(std::span<const double> seconds, std::size_t threads) {
  std::vector<double> free_at(std::min(threads, seconds.size()), 0.0);  // min-heap
  double end = 0.0;
  for (const double task : seconds) {
    std::ranges::pop_heap(free_at, std::greater<>());
    free_at.back() += task;
    end = std::max(end, free_at.back());
    std::ranges::push_heap(free_at, std::greater<>());
  }
  return end;
}

}  // namespace slide

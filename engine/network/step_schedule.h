// Divides phase A of a batch into tasks. A task is a range of tiles of one block and part; the number of
// tasks depends on the threads, the result does not. Plain value, for the thread that starts the tasks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/network/network.h"
#include "engine/network/step_tiles.h"

namespace slide {

// Working memory of a pass. Layer::select() needs memory for each neuron of a layer: `select` has only as
// many of these as are used at the same time.
struct PassScratch {
  std::span<ThreadScratch> threads;  // by thread
  std::span<ThreadScratch> select;   // for select(): by thread, or by block and part where these are fewer
  // For a pass of thread t alone over one block.
  PassScratch alone(std::size_t t) const { return {threads.subspan(t, 1), select.subspan(t, 1)}; }
};

class StepSchedule {
 public:
  StepSchedule(std::span<Block> blocks, const PassScratch& scratch)
      : blocks_(blocks),
        scratch_(scratch),
        max_tasks_(alone() ? 1 : slices_of(kTasksPerThread * scratch.threads.size(), blocks.size())) {}
  // A schedule of the blocks `some`, with tasks of the same size.
  StepSchedule over(Slice some) const {
    StepSchedule schedule = *this;
    schedule.blocks_ = blocks_.subspan(some.first, some.count);
    return schedule;
  }

  std::span<Block> blocks() const { return blocks_; }
  int threads() const { return static_cast<int>(scratch_.threads.size()); }
  bool alone() const { return scratch_.threads.size() == 1; }
  // Scratch for select() in task `task` of `tasks` on `thread`.
  ThreadScratch& select_scratch(std::size_t task, std::size_t tasks, std::size_t thread) const {
    return scratch_.select[tasks <= scratch_.select.size() ? task : thread];
  }

  // Number of tasks for `tiles` tiles of a block, and the tiles of task `task`.
  std::size_t tasks_for(std::size_t tiles) const { return std::min(tiles, max_tasks_); }
  Slice tiles_of(std::size_t task, std::size_t tiles) const {
    const std::size_t tasks = tasks_for(tiles), first = tiles * task / tasks;
    return {first, tiles * (task + 1) / tasks - first};
  }
  // Part i % parts of block i / parts.
  BlockPart part(std::size_t i, std::size_t parts) const { return {blocks_[i / parts], i % parts}; }

  // Calls body(BlockPart, task, ThreadScratch&) for the tasks < tasks_of(BlockPart) of every block, in
  // `parts` parts.
  template <class TasksOf, class Body>
  void each_task(std::size_t parts, TasksOf&& tasks_of, Body&& body) const;
  // Calls body(BlockPart, tiles, ThreadScratch&) for runs of the tiles_in(BlockPart) tiles of every block.
  template <class TilesIn, class Body>
  void each_run(std::size_t parts, TilesIn&& tiles_in, Body&& body) const;

 private:
  static constexpr std::size_t kTasksPerThread = 8;  // so that uneven tasks balance

  std::span<Block> blocks_;
  PassScratch scratch_;
  std::size_t max_tasks_;  // of a block, for one kind of tile
};

template <class TasksOf, class Body>
void StepSchedule::each_task(std::size_t parts, TasksOf&& tasks_of, Body&& body) const {
  std::vector<std::size_t>& ends = scratch_.threads.front().ends;
  ends.clear();
  std::size_t tasks = 0;
  for (std::size_t i = 0; i < blocks_.size() * parts; ++i) ends.push_back(tasks += tasks_of(part(i, parts)));
  parallel_for(tasks, threads(), [&](std::size_t task, int thread) {
    const auto i = static_cast<std::size_t>(std::ranges::upper_bound(ends, task) - ends.begin());
    body(part(i, parts), task - (i > 0 ? ends[i - 1] : 0),
         scratch_.threads[static_cast<std::size_t>(thread)]);
  });
}

template <class TilesIn, class Body>
void StepSchedule::each_run(std::size_t parts, TilesIn&& tiles_in, Body&& body) const {
  each_task(
      parts, [&](const BlockPart& at) { return tasks_for(tiles_in(at)); },
      [&](const BlockPart& at, std::size_t task, ThreadScratch& scratch) {
        body(at, tiles_of(task, tiles_in(at)), scratch);
      });
}

}  // namespace slide

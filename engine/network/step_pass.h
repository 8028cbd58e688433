// Phase A of a step, in order: forward, loss and backward of blocks. The network is const. Threads can have
// blocks of their own: a pass with one thread takes each block through all its tiles while it is in that
// core's cache. Where blocks are too few for that, threads share the tiles of all of them:
//
//   first activations                             block x some samples
//   for each layer: active neurons                block
//     beside the first of them: features by shard block x some samples
//     and for the linear term                     block x some features
//                   activations or logits, loss   block x some active neurons
//   back again:     rows with a gradient          block
//                   gradients of the input        block x some of its units (x some samples)
//
// The arithmetic of a tile is in step_tiles.h, how tiles become tasks in step_schedule.h, and what a network
// in parts needs in addition in split_step.h. An object serves one step.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "engine/base/phases.h"
#include "engine/network/layer_training.h"
#include "engine/network/part_join.h"
#include "engine/network/split_step.h"
#include "engine/network/step_schedule.h"
#include "engine/network/step_tiles.h"

namespace slide {

class StepPass {
 public:
  // Of the blocks of the schedule, whose rows and labels are filled. `join`: where the network is in parts,
  // else nullptr.
  StepPass(const StepView& step, const StepSchedule& schedule, std::span<const LayerTraining> layers,
           PartJoin* join);

  // Leaves output gradients and rows with a gradient in the blocks and adds seconds of wall time to `phases`.
  // Where the network is in parts, sums are this process's own, and PartJoin::sum() has those of all.
  StepSums run(PhaseSeconds& phases);

 private:
  // Blocks that go through a phase together, and of a network in parts their sums on the way.
  struct Batch {
    StepSchedule schedule;
    PartJoin::Group* group = nullptr;
  };
  void forward_input();
  void forward_layers(const Batch& batch, PhaseSeconds& phases, LapClock& clock);
  void index_features(const StepSchedule& schedule);
  void select(const Batch& batch, std::size_t l);
  void forward(const StepSchedule& schedule, std::size_t l);
  void softmax(const StepSchedule& schedule);
  void backward(const Batch& batch, std::size_t l);
  StepSums sums();

  // Tasks that index the features of a block; body of one of them.
  std::size_t index_tasks_of(const Block& block) const;
  std::size_t feature_parts(const Block& block) const;
  void index_task(Block& block, std::size_t task) const;
  void clear_features(const StepSchedule& schedule) const;
  SliceCells cells_of(const BlockPart& at, std::size_t l, std::size_t blocks) const;

  StepView step_;
  StepSchedule all_;
  std::span<const LayerTraining> layers_;
  std::optional<SplitStep> split_;
};

}  // namespace slide

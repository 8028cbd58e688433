// Phase A of a step, in order: forward, loss and backward of blocks. The network is const. With enough
// blocks, each thread has a pass of its own over one block, which stays in that core's cache. Else the
// threads share the tiles of all blocks, phase by phase:
//
//   input layer                                   block x samples
//   for each layer: active neurons                block
//     at the same time: features by shard         block x samples
//     and for the linear term                     block x features
//                   activations or logits, loss   block x active neurons
//   backward:       rows with a gradient          block
//                   gradients of the input        block x units (x samples)
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
  // For the blocks of the schedule, whose rows and labels are filled. `join`: nullptr for a network of one
  // part.
  StepPass(const StepView& step, const StepSchedule& schedule, std::span<const LayerTraining> layers,
           PartJoin* join);

  // Writes output gradients and touched rows into the blocks; adds wall time to `phases`. Returns the sums
  // over the blocks; {} for a network in parts, where PartJoin::sum() returns them.
  StepSums run(PhaseSeconds& phases);

 private:
  // Blocks that go through a phase together; in a network in parts, with their group.
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

  // Tasks that index the features of a block: their number, ranges for the linear term among them, and one.
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

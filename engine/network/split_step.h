// Phase A of a network in parts (network_parts.h): hidden activations, softmax norms and hidden gradients are
// sums over the parts, also of other processes. A network of one part has no SplitStep.
//
// While the sums of one group of blocks are sent, another group is computed. Thread safety: backward_tile()
// may run on any thread; other functions are for one thread.
#pragma once

#include <cstddef>
#include <span>

#include "engine/network/part_join.h"
#include "engine/network/step_schedule.h"
#include "engine/network/step_tiles.h"

namespace slide {

class SplitStep {
 public:
  SplitStep(const StepView& step, PartJoin& join) : step_(step), join_(join) {}

  // Calls body(StepSchedule, Group&) for each group of blocks.
  template <class Body>
  void each_group(const StepSchedule& all, Body&& body) const {
    const std::size_t blocks = all.blocks().size();
    for (PartJoin::Group& group : join_.groups(blocks))
      body(all.over({group.blocks.first, group.used(blocks)}), group);
  }

  // h [lanes x hidden]: start_input() computes the pre-activations by the features of each part and starts
  // their sum; finish_input() waits for the sums and applies bias, activation and dropout.
  void start_input(const StepSchedule& schedule, PartJoin::Group& group) const;
  void finish_input(const StepSchedule& schedule, PartJoin::Group& group) const;

  // Output gradients [active x lanes] by softmax over the active neurons of all parts.
  void softmax(const StepSchedule& schedule) const;

  // dx [lanes x hidden]: contribution of one part of the output layer to the hidden gradient, for the units
  // and samples of `cell`.
  void backward_tile(const BlockPart& at, const SliceCell& cell, LayerScratch& scratch,
                     PartJoin::Group& group) const;

  // Sets the sums of a part of this process; starts sending all of them. PartJoin::sum() returns the total.
  void put_sums(std::size_t part, const StepSums& sums) const { join_.put(part, sums); }
  void start_sums() const { join_.start_sum(); }

 private:
  void softmax_join_tile(const BlockPart& at, Slice samples, std::vector<float>& norms) const;

  const StepView& step_;
  PartJoin& join_;
};

}  // namespace slide

// What phase A needs in addition where the network is in parts (network_parts.h): hidden activations, softmax
// norms and hidden gradients are sums over the parts, also of other processes. Absent in a network of one
// part.
//
// While the sums of one group of blocks travel, another group is computed. The calls are one thread's; tiles
// are for any thread.
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

  // h [lanes x hidden]: starts the sum over parts of what each part's features add; finish_input() takes the
  // sums through the activation and dropout.
  void start_input(const StepSchedule& schedule, PartJoin::Group& group) const;
  void finish_input(const StepSchedule& schedule, PartJoin::Group& group) const;

  // Output gradients [active x lanes] by softmax over the active neurons of all parts.
  void softmax(const StepSchedule& schedule) const;

  // dx [lanes x hidden]: what a part of the output layer adds to the hidden gradient, of some units and
  // samples.
  void backward_tile(const BlockPart& at, const SliceCell& cell, LayerScratch& scratch,
                     PartJoin::Group& group) const;

  // Takes the sums of the process's parts, and sends them; PartJoin::sum() has those of all.
  void put_sums(std::size_t part, const StepSums& sums) const { join_.put(part, sums); }
  void start_sums() const { join_.start_sum(); }

 private:
  void softmax_join_tile(const BlockPart& at, Slice samples, std::vector<float>& norms) const;

  const StepView& step_;
  PartJoin& join_;
};

}  // namespace slide

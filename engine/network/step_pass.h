// Phase A of a step: forward, loss and backward of blocks. The network is const. Threads can have blocks of
// their own: a pass with one thread takes each block through all its parts while it is in that core's cache.
// Or, where blocks are too few to go round evenly, threads share each part of all of them:
//
//   first activations                             block x some samples
//   for each layer: who is active                 block
//     beside the first of them: features by shard block x some samples
//     and for the wide path                       block x some features
//                   activations or logits, loss   block x some active neurons
//   back again:     who gets a gradient           block
//                   gradients of the input        block x some of its units (x some samples)
//
// Where the network is in parts (network_parts.h), each of them chooses active neurons of its own, and what
// it adds to the first activations and to their gradient is summed over the parts in between (part_join.h).
//
// Tasks are runs of slices (slice.h), as many as the threads need. A task writes what no other one of its
// part writes, and a slice is the same whatever task it belongs to: results depend on neither threads nor
// timing. An object serves one step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/base/phases.h"
#include "engine/network/block.h"
#include "engine/network/input_training.h"
#include "engine/network/layer_training.h"
#include "engine/network/network.h"
#include "engine/network/part_join.h"

namespace slide {

// Working memory of StepPass. What chooses active neurons knows all of a layer's, so there is as little of it
// as can be in use at once.
struct PassScratch {
  std::span<ThreadScratch> threads;  // one for each thread of the pass
  std::span<ThreadScratch> chosen;   // one for each, or for each block where these are fewer
  // For a pass of thread t alone over one block.
  PassScratch alone(std::size_t t) const { return {threads.subspan(t, 1), chosen.subspan(t, 1)}; }
};

class StepPass {
 public:
  struct Key {
    std::uint64_t step;                         // from 0, keys the random numbers
    float scale;                                // 1 / samples in the step
    std::span<const float> label_weights = {};  // what labels count; empty: all 1
  };
  // Of blocks whose rows and labels are filled. `input`: where the network has an input layer; `join`: where
  // it is in parts.
  StepPass(const Network& network, std::span<Block> blocks, InputTraining* input, PartJoin* join,
           std::span<const LayerTraining> layers, const PassScratch& scratch, const Key& key);

  // Leaves deltas and touched rows in the blocks and adds seconds of wall time to `phases`. Where the network
  // is in parts, sums are this process's own, and PartJoin::sum() has those of all.
  StepSums run(PhaseSeconds& phases);

 private:
  // A block of a layer, of an output layer one of its parts here.
  struct Place {
    std::size_t b, part;
  };
  // Calls body(place, i, scratch) for the tasks i < tasks_of(place) of every block, in `parts` parts.
  template <class TasksOf, class Body>
  void each_task(std::size_t parts, TasksOf&& tasks_of, Body&& body);
  // Calls body(place, slices, scratch) for runs of the slices of each place.
  template <class SlicesOf, class Body>
  void each_run(std::size_t parts, SlicesOf&& slices_at, Body&& body);
  std::size_t parts_of(std::size_t l) const { return network_.layers()[l].parts(); }
  std::size_t last() const { return layers_.size() - 1; }
  LayerBlock& at(std::size_t l, Place place) const { return blocks_[place.b].layers[l + place.part]; }
  std::size_t runs_of(std::size_t slices) const { return std::min(slices, most_runs_); }
  Slice run_of(std::size_t i, std::size_t slices) const {
    const std::size_t first = slices * i / runs_of(slices);
    return {first, slices * (i + 1) / runs_of(slices) - first};
  }

  void forward_input();
  void forward_input_slice(Block& block, std::size_t slice);
  void forward_input_part(Place place, std::size_t slice, std::vector<float>& sums);
  void drop_input(Block& block, Slice samples);
  template <class Body>
  void each_group(Body&& body);
  void forward_layers(PhaseSeconds& phases, LapClock& clock);
  void forward_input_parts();
  std::size_t index_tasks_of(const Block& block) const;
  std::size_t feature_parts(const Block& block) const;
  void clear_features();
  void index_block_features(Block& block, std::size_t task) const;
  void index_features();
  void activate_parts();
  void activate(Place place, Slice run);
  void select(std::size_t l);
  void select_active(std::size_t l, Place place, LayerScratch& scratch);
  void forward(std::size_t l);
  void softmax();
  StepSums sums();
  double loss_of(Place place) const;
  void mask(Place place, Slice slices) const;
  void compute_loss(Place place, std::size_t slice) const;
  void sparsify(Place place, Slice slices) const;
  void backward(std::size_t l);
  SliceCells cells_of(std::size_t l, Place place) const;
  void backward_cell(std::size_t l, Place place, const SliceCell& cell, LayerScratch& scratch);
  void backward_part(Place place, const SliceCell& cell, LayerScratch& scratch);

  // A stream of a block's random numbers; `what` tells what is drawn from those of its other layers.
  Rng rng_of(Purpose purpose, Place place, std::size_t what) const;
  std::uint64_t number_of(Place place) const;
  bool under_softmax() const { return network_.config().loss.kind == LossKind::kSoftmax; }
  BlockTargets targets_of(Place place) const;

  const Network& network_;
  std::span<Block> blocks_;
  InputTraining* input_;
  PartJoin* join_;
  PartJoin::Group* group_ = nullptr;  // whose blocks are blocks_
  std::span<const LayerTraining> layers_;
  PassScratch scratch_;
  Key key_;
  int threads_;
  std::size_t most_runs_;  // that the slices of a block are shared out in
};

template <class TasksOf, class Body>
void StepPass::each_task(std::size_t parts, TasksOf&& tasks_of, Body&& body) {
  std::vector<std::size_t>& ends = scratch_.threads.front().ends;
  ends.clear();
  std::size_t tasks = 0;
  const auto place = [&](std::size_t i) { return Place{i / parts, i % parts}; };
  for (std::size_t i = 0; i < blocks_.size() * parts; ++i) ends.push_back(tasks += tasks_of(place(i)));
  parallel_for(tasks, threads_, [&](std::size_t task, int thread) {
    const auto i = static_cast<std::size_t>(std::ranges::upper_bound(ends, task) - ends.begin());
    body(place(i), task - (i > 0 ? ends[i - 1] : 0), scratch_.threads[static_cast<std::size_t>(thread)]);
  });
}

template <class SlicesOf, class Body>
void StepPass::each_run(std::size_t parts, SlicesOf&& slices_at, Body&& body) {
  each_task(
      parts, [&](Place place) { return runs_of(slices_at(place)); },
      [&](Place place, std::size_t i, ThreadScratch& scratch) {
        body(place, run_of(i, slices_at(place)), scratch);
      });
}

}  // namespace slide

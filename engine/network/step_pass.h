// Phase A of a step: forward, loss and backward of blocks. The network is const. Threads can have blocks of
// their own: a pass with one thread takes each block through all its parts while it is in that core's cache.
// Or, where blocks are too few to go round evenly, threads share each part of all of them:
//
//   the samples' features, first activations      block x some samples
//   for each layer: who is active                 block
//                   activations or logits, loss   block x some active neurons
//   back again:     who gets a gradient           block
//                   gradients of the input        block x some of its units
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

#include "engine/base/phases.h"
#include "engine/network/block.h"
#include "engine/network/input_training.h"
#include "engine/network/layer_training.h"
#include "engine/network/network.h"

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
    std::uint64_t step;  // from 0, keys the random numbers
    float scale;         // 1 / samples in the step
  };
  // Of blocks whose rows and labels are filled. `input`: where the network has an input layer.
  StepPass(const Network& network, std::span<Block> blocks, InputTraining* input,
           std::span<const LayerTraining> layers, const PassScratch& scratch, const Key& key);

  // Leaves deltas and touched rows in the blocks and adds seconds of wall time to `phases`. Returns the loss
  // summed over samples.
  double run(PhaseSeconds& phases);

 private:
  // Calls body(b, i, scratch) for the tasks i < tasks_of(b) of every block b.
  template <class TasksOf, class Body>
  void each_task(TasksOf&& tasks_of, Body&& body);
  // Calls body(b, slices, scratch) for runs of the slices of each block b.
  template <class SlicesOf, class Body>
  void each_run(SlicesOf&& slices_of_block, Body&& body);
  std::size_t runs_of(std::size_t slices) const { return std::min(slices, most_runs_); }
  Slice run_of(std::size_t i, std::size_t slices) const {
    const std::size_t first = slices * i / runs_of(slices);
    return {first, slices * (i + 1) / runs_of(slices) - first};
  }

  void forward_input();
  void enter(Block& block, std::size_t slice);
  void select(std::size_t l);
  void choose(std::size_t l, Block& block, LayerScratch& scratch);
  void forward(std::size_t l);
  double loss();
  void lose(const Block& block, std::size_t slice, LayerBlock& out) const;
  void round(Block& block, Slice slices) const;
  void backward(std::size_t l);
  void backward_units(std::size_t l, Block& block, Slice units, LayerScratch& scratch);

  // A stream of a block's random numbers; `place` tells what is drawn from those of its other layers.
  Rng rng_of(Purpose purpose, const Block& block, std::size_t place) const;
  bool softmax() const { return network_.config().loss.kind == LossKind::kSoftmax; }
  BlockTargets targets_of(const Block& block) const;

  const Network& network_;
  std::span<Block> blocks_;
  InputTraining* input_;
  std::span<const LayerTraining> layers_;
  PassScratch scratch_;
  Key key_;
  int threads_;
  std::size_t most_runs_;  // that the slices of a block are shared out in
};

}  // namespace slide

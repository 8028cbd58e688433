// Phase A of a step: forward, loss and backward of its blocks, cut into more tasks than there are blocks. The
// network is const. What a block does in one part after the other, all blocks do in each part at once:
//
//   the samples' features, first activations      block x some samples
//   for each layer: who is active                 block
//                   activations or logits, loss   block x some active neurons (slice.h)
//   back again:     who gets a gradient           block
//                   gradients of the input        block x some of its units
//
// A task writes what no other one of its part writes, and the cuts follow from sizes alone: results depend on
// neither threads nor timing. An object serves one step.
#pragma once

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
  std::vector<ThreadScratch> threads;  // one each
  std::vector<ThreadScratch> chosen;   // one each, or one for each block where these are fewer
  std::vector<std::size_t> ends;       // of the tasks of each block
};

class StepPass {
 public:
  struct Key {
    std::uint64_t step;  // from 0, keys the random numbers
    float scale;         // 1 / samples in the step
  };
  // Of blocks whose rows and labels are filled. `input`: where the network has an input layer.
  StepPass(const Network& network, std::span<Block> blocks, InputTraining* input,
           std::span<const LayerTraining> layers, PassScratch& scratch, const Key& key, int threads);

  // Leaves deltas and touched rows in the blocks and adds seconds of wall time to `phases`. Returns the loss
  // summed over samples.
  double run(PhaseSeconds& phases);

 private:
  // Calls body(b, i, scratch) for the parts i < parts_of(b) of every block b.
  template <class PartsOf, class Body>
  void each_part(PartsOf&& parts_of, Body&& body);
  // The same with the slices of the active neurons of layer l, body(b, i, scratch).
  template <class Body>
  void each_slice(std::size_t l, Body&& body);

  void forward_input();
  void select(std::size_t l);
  void choose(std::size_t l, std::size_t b, LayerScratch& scratch);
  void forward(std::size_t l);
  double loss();
  void lose(std::size_t b, std::size_t slice);
  void round(std::size_t b, std::size_t slice);
  void backward(std::size_t l);
  void backward_units(std::size_t l, std::size_t b, Slice units, LayerScratch& scratch);

  // A stream of a block's random numbers; `place` tells what is drawn from those of its other layers.
  Rng rng_of(Purpose purpose, std::size_t b, std::size_t place) const;
  bool softmax() const { return network_.config().loss.kind == LossKind::kSoftmax; }
  BlockTargets targets_of(const Block& block) const;

  const Network& network_;
  std::span<Block> blocks_;
  InputTraining* input_;
  std::span<const LayerTraining> layers_;
  PassScratch& scratch_;
  Key key_;
  int threads_;
};

}  // namespace slide

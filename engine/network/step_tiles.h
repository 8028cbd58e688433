// The arithmetic of phase A: forward, loss and backward of a tile, which is some samples or some active
// neurons of a block. Each function reads the network, which is const, and writes what no other tile writes:
// tiles of one kind may run in any order, on any threads. A tile never splits a sum, so results do not depend
// on who computes it. StepSchedule cuts a batch into tiles, StepPass has their order.
//
// Shapes: lanes = train.block_size (spare lanes have zero gradients), hidden = units of a hidden layer,
// active = neurons of a layer that the block computes. Names that end in _t or t are unit-major, [unit x
// lanes].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/network/block.h"
#include "engine/network/input_training.h"
#include "engine/network/layer.h"
#include "engine/network/loss.h"
#include "engine/network/network.h"

namespace slide {

// What keys a step.
struct StepKey {
  std::uint64_t step;                         // from 0, keys the random numbers
  float scale;                                // 1 / samples in the step
  std::span<const float> label_weights = {};  // by label; empty: all 1
};

// What all tiles of a step share.
struct StepView {
  const Network& network;
  InputTraining* input;  // nullptr without a layer stored by feature
  StepKey key;

  bool softmax() const { return network.config().loss.kind == LossKind::kSoftmax; }
  std::size_t last() const { return network.layers().size() - 1; }
  std::size_t parts_of(std::size_t l) const { return network.layers()[l].parts(); }
};

// A block as one part of a layer computes it: an output layer has the parts that this process holds, other
// layers have one (network_parts.h).
struct BlockPart {
  Block& block;
  std::size_t part = 0;

  LayerBlock& at(std::size_t l) const { return block.layers[l + part]; }
  // Cuts of the block: samples, and active neurons of layer l.
  std::size_t sample_slices() const { return slices_of(block.lanes, kSliceSamples); }
  std::size_t neuron_slices(std::size_t l) const { return slices_of(at(l).count, kSliceNeurons); }
};

// h [lanes x hidden] and its transpose = f(bias + sum of value * feature row), of one slice of samples, where
// the first layer is stored by feature. Then dropout.
void forward_input_tile(const StepView& step, Block& block, std::size_t slice);
// h *= dropout factors, of some samples.
void drop_input(const StepView& step, Block& block, Slice samples);

// block.features: the samples' features in ascending order, for the linear term; in `parts` ranges, of which
// this is one. Call block.features.clear() before.
void index_features_tile(const StepView& step, Block& block, std::size_t part, std::size_t parts);

// at(l).set [active]: the neurons that the block computes: labels, candidates of the hash tables, negatives;
// all of a dense layer. `scratch` has a counter for each neuron.
void select_tile(const StepView& step, std::size_t l, const BlockPart& at, LayerScratch& scratch);

// z [active x lanes] = bias + logQ correction + W[active] x + linear term, of some slices of active neurons;
// a hidden layer: f(z), then dropout; the output layer: masked neurons get no logit.
void forward_tile(const StepView& step, std::size_t l, const BlockPart& at, Slice slices,
                  LayerScratch& scratch);

// Output gradients [active x lanes] in place of logits, by the one-vs-all logistic loss, of one slice of
// active neurons; at(last).losses[slice]. Weighted by sample.
void loss_tile(const StepView& step, const BlockPart& at, std::size_t slice);
// The same by softmax over all active neurons, of some samples; at(last).losses[sample]. `log_norm` [lanes]
// is scratch.
void softmax_tile(const StepView& step, const BlockPart& at, Slice samples, std::span<float> log_norm);
// Output gradients below loss.gradient_threshold become 0 or the threshold at random, of some slices of
// active neurons.
void sparsify_tile(const StepView& step, const BlockPart& at, Slice slices);

// dx [lanes x hidden] = output gradient^T W[active], of some units and samples of the layer below; then
// through that layer's dropout and activation.
void backward_tile(const StepView& step, std::size_t l, const BlockPart& at, const SliceCell& cell,
                   LayerScratch& scratch);

// The labels of the block among its active neurons.
BlockTargets targets_of(const StepView& step, const BlockPart& at);
// Sums over the samples of the block, in the order of tiles: loss and active neurons.
double loss_of(const StepView& step, const BlockPart& at);

}  // namespace slide

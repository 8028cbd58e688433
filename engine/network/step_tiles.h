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

// The step's number and factors.
struct StepKey {
  std::uint64_t step;                         // from 0; keys the random streams
  float scale;                                // of gradients: 1 / samples of the step
  std::span<const float> label_weights = {};  // by label; empty: all 1
  std::span<const float> label_margins = {};  // by label; empty: all 0
};

// The step, as all its tiles see it.
struct StepView {
  const Network& network;
  InputTraining* input;  // nullptr without a layer stored by feature
  StepKey key;

  bool normalised_loss() const { return is_normalised(network.config().loss.kind); }
  std::size_t last() const { return network.layers().size() - 1; }
  std::size_t parts_of(std::size_t l) const { return network.layers()[l].parts(); }
};

// A block and one part of a layer: the output layer has the parts that this process holds, other layers have
// one (network_parts.h).
struct BlockPart {
  Block& block;
  std::size_t part = 0;

  LayerBlock& at(std::size_t l) const { return block.layers[l + part]; }
  // Numbers of slices of samples, and of active neurons of layer l.
  std::size_t sample_slices() const { return slices_of(block.lanes, kSliceSamples); }
  std::size_t neuron_slices(std::size_t l) const { return slices_of(at(l).count, kSliceNeurons); }
};

// Input layer: h [lanes x hidden] and its transpose = dropout of f(bias + sum of value * feature row), for
// one slice of samples.
void forward_input_tile(const StepView& step, Block& block, std::size_t slice);
// Input layer: h *= dropout factors, for a range of samples.
void drop_input(const StepView& step, Block& block, Slice samples);

// Fills range number `part` of `parts` of block.features: the samples' features in ascending order, for the
// linear term. Call block.features.clear() before.
void index_features_tile(const StepView& step, Block& block, std::size_t part, std::size_t parts);

// Sets at(l).set: the active neurons (labels, candidates of hash tables, negatives; all of a dense layer),
// and for the output layer the positions of labels and masked neurons.
void select_tile(const StepView& step, std::size_t l, const BlockPart& at, LayerScratch& scratch);

// z [active x lanes] = bias + logQ correction + W[active] x + linear term, for a range of slices of active
// neurons. Hidden layer: then dropout of f(z). Output layer: logits of masked neurons become kMaskedLogit.
void forward_tile(const StepView& step, std::size_t l, const BlockPart& at, Slice slices,
                  LayerScratch& scratch);

// Logits [active x lanes] become output gradients, times sample weights, by a local loss (loss_kind.h), for
// one slice of active neurons. Sets at(last).losses[slice].
void loss_tile(const StepView& step, const BlockPart& at, std::size_t slice);
// The same by softmax over all active neurons, for a range of samples. Sets at(last).losses[sample].
// `log_norm` [lanes]: working memory.
void softmax_tile(const StepView& step, const BlockPart& at, Slice samples, std::span<float> log_norm);
// Output gradients below loss.gradient_threshold become 0 or the threshold at random, for a range of slices
// of active neurons (sparse_deltas.h).
void sparsify_tile(const StepView& step, const BlockPart& at, Slice slices);

// dx [lanes x hidden] = delta^T W[active], for the units and samples of `cell` of the layer below, times the
// derivatives of its dropout and activation.
void backward_tile(const StepView& step, std::size_t l, const BlockPart& at, const SliceCell& cell,
                   LayerScratch& scratch);

// The targets of the block: its labels among the active neurons, and label weights.
BlockTargets targets_of(const StepView& step, const BlockPart& at);
// Loss, summed over the samples of the block in the order of tiles.
double loss_of(const StepView& step, const BlockPart& at);

}  // namespace slide

#include "engine/network/step_tiles.h"

#include <algorithm>
#include <numeric>

namespace slide {

namespace {

// Key of a block and part: block number in the batch, part number in the network above bit 32.
std::uint64_t number_of(const StepView& step, const BlockPart& at) {
  const std::uint64_t part = step.network.output().number_of(at.part);
  return at.block.number + (part << 32);
}

// Random stream of a block for one of up to 64 uses: number of the layer.
Rng rng_of(const StepView& step, Purpose purpose, const BlockPart& at, std::size_t use) {
  return {step.network.config().train.seed, purpose, step.key.step, number_of(step, at) * 64 + use};
}

// Replaces the logits of masked neurons by kMaskedLogit, for a range of slices.
void mask_tile(const StepView& step, const BlockPart& at, Slice slices) {
  LayerBlock& out = at.at(step.last());
  if (at.block.masked.empty()) return;
  for (std::size_t i = slices.first; i < slices.end(); ++i) {
    mask_logits(at.block.lanes, slice_of(i, out.count, kSliceNeurons), out.masked.slice(i), out.out_t.data());
  }
}

}  // namespace

void forward_input_tile(const StepView& step, Block& block, std::size_t slice) {
  const InputLayer& layer = *step.network.input();
  const Slice samples = slice_of(slice, block.lanes, kSliceSamples);
  if (step.network.dense() > 0) {
    block.dense.transpose(slice, block.samples(), block.lanes);
    layer.forward(block.rows, block.dense, block.lanes, slice, block.input);
  } else {
    layer.forward(block.rows, block.lanes, samples, block.input);
  }
  drop_input(step, block, samples);
}

void drop_input(const StepView& step, Block& block, Slice samples) {
  const InputLayer& layer = *step.network.input();
  if (layer.config().dropout <= 0 || samples.first >= block.samples()) return;
  const Slice used{samples.first, std::min(samples.end(), block.samples()) - samples.first};
  const Rng rng(step.network.config().train.seed, Purpose::kDropout, step.key.step,
                std::uint64_t{block.number} * 64);
  apply_dropout(layer.config().dropout, {0, layer.size()}, used, block.samples(), block.lanes, rng,
                block.input);
}

// Range number `part` of `parts` ranges of features, each of about equal cost.
void index_features_tile(const StepView& step, Block& block, std::size_t part, std::size_t parts) {
  const auto all = static_cast<std::uint32_t>(step.network.sample_features());
  if (parts == 1) return block.features.build(block.rows, block.lanes, all);
  // First feature of range i: an end of a shard, as shards have about equal costs, rounded down to a multiple
  // of 32 (BlockFeatures::build).
  const FeatureShards& shards = step.input->shards();
  const auto first_of = [&](std::size_t i) {
    if (i == 0) return std::uint32_t{0};
    if (i == parts) return all;
    const std::uint32_t end = shards.end(static_cast<std::uint32_t>(shards.size() * i / parts) - 1);
    return std::min(end, all) / 32 * 32;
  };
  block.features.build(block.rows, block.lanes, {first_of(part), first_of(part + 1)}, part);
}

// The random stream depends on step, block, part and layer, not on the thread.
void select_tile(const StepView& step, std::size_t l, const BlockPart& at, LayerScratch& scratch) {
  const Block& block = at.block;
  const Layer& layer = step.network.layers()[l];
  LayerBlock& mine = at.at(l);
  Layer::Query query{block.rows, {}};
  if (layer.output()) {
    query.labels = block.labels;
    query.masked = block.masked;
  }
  layer.select(at.part, step.network.input_of(l, block), query, rng_of(step, Purpose::kSampling, at, l),
               scratch, mine);
  if (!layer.output()) return;
  if (!step.normalised_loss()) mine.targets.build(targets_of(step, at));
  if (!block.masked.empty()) mine.masked.build_masked(targets_of(step, at));
}

void forward_tile(const StepView& step, std::size_t l, const BlockPart& at, Slice slices,
                  LayerScratch& scratch) {
  const Block& block = at.block;
  const Layer& layer = step.network.layers()[l];
  LayerBlock& mine = at.at(l);
  layer.forward(step.network.input_of(l, block), slices, scratch, mine);
  if (layer.output()) return mask_tile(step, at, slices);
  if (layer.config().dropout <= 0) return;
  apply_dropout(layer.config().dropout, covered(slices, mine.count, kSliceNeurons), {0, block.samples()},
                block.samples(), block.lanes, rng_of(step, Purpose::kDropout, at, l + 1), mine);
}

// Weights and margins are by label: active neuron a is label first + ids[a].
BlockTargets targets_of(const StepView& step, const BlockPart& at) {
  const Block& block = at.block;
  const LayerBlock& out = at.at(step.last());
  const std::span<const float> weights = step.key.label_weights;
  BlockTargets targets{&out.set, out.count, block.samples(), block.lanes};
  if (step.network.parts().split() || !weights.empty()) targets.labels = block.labels;
  if (weights.empty() && step.key.label_margins.empty()) return targets;
  targets.weights = weights;
  targets.margins = step.key.label_margins;
  targets.first = step.network.output().weights().first + (out.all ? out.first : 0);
  targets.ids = out.all ? nullptr : out.set.ids.data();
  return targets;
}

void loss_tile(const StepView& step, const BlockPart& at, std::size_t slice) {
  LayerBlock& out = at.at(step.last());
  const BlockTargets targets = targets_of(step, at);
  const Slice neurons = slice_of(slice, out.count, kSliceNeurons);
  out.losses[slice] = local_loss(step.network.config().loss, targets, neurons, out.targets.slice(slice),
                                 step.key.scale, out.out_t.data());
  weigh(targets, neurons, {0, targets.samples}, at.block.weights, out.out_t.data());
}

void softmax_tile(const StepView& step, const BlockPart& at, Slice samples, std::span<float> log_norm) {
  LayerBlock& out = at.at(step.last());
  const BlockTargets targets = targets_of(step, at);
  softmax_loss(targets, samples, step.key.scale, out.out_t.data(), log_norm.data(), out.losses.data());
  weigh(targets, {0, out.count}, samples, at.block.weights, out.out_t.data());
}

// The threshold is in units of gradients times scale, as z is.
void sparsify_tile(const StepView& step, const BlockPart& at, Slice slices) {
  const Config& config = step.network.config();
  LayerBlock& out = at.at(step.last());
  if (!out.sparse.in_use()) return;
  const auto threshold = static_cast<float>(config.loss.gradient_threshold) * step.key.scale;
  const Rng rng(config.train.seed, Purpose::kDeltas, step.key.step, number_of(step, at));
  for (std::size_t i = slices.first; i < slices.end(); ++i) {
    out.sparse.sparsify(threshold, rng, i, slice_of(i, out.count, kSliceNeurons), at.block.samples(),
                        at.block.lanes, out.out_t.data());
  }
}

// dx goes to the deltas of the layer below, and through its activation.
void backward_tile(const StepView& step, std::size_t l, const BlockPart& at, const SliceCell& cell,
                   LayerScratch& scratch) {
  Block& block = at.block;
  const Layer& layer = step.network.layers()[l];
  const LayerBlock& mine = at.at(l);
  LayerBlock& below = l == 0 ? block.input : block.layers[l - 1];
  float* dx = l == 0 ? step.input->delta(block.first_sample()) : below.delta.data();
  const float* delta = layer.output() ? mine.out_t.data() : mine.delta_t.data();
  layer.backward_input(step.network.input_of(l, block), cell, delta, scratch, mine, dx, below.ldo);
  if (l > 0) {
    step.network.layers()[l - 1].backward_activation(block.lanes, cell, below);
  } else {
    step.input->backward(*step.network.input(), cell, block);
  }
}

double loss_of(const StepView& step, const BlockPart& at) {
  const std::vector<double>& losses = at.at(step.last()).losses;
  const std::size_t count = step.normalised_loss() ? at.block.lanes : at.neuron_slices(step.last());
  return std::accumulate(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
}

}  // namespace slide

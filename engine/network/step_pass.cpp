#include "engine/network/step_pass.h"

#include <algorithm>
#include <numeric>

#include "engine/base/parallel.h"

namespace slide {

StepPass::StepPass(const Network& network, std::span<Block> blocks, InputTraining* input,
                   std::span<const LayerTraining> layers, PassScratch& scratch, const Key& key, int threads)
    : network_(network),
      blocks_(blocks),
      input_(input),
      layers_(layers),
      scratch_(scratch),
      key_(key),
      threads_(threads) {}

template <class PartsOf, class Body>
void StepPass::each_part(PartsOf&& parts_of, Body&& body) {
  std::vector<std::size_t>& ends = scratch_.ends;
  ends.clear();
  std::size_t tasks = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) ends.push_back(tasks += parts_of(b));
  parallel_for(tasks, threads_, [&](std::size_t task, int thread) {
    const auto b = static_cast<std::size_t>(std::ranges::upper_bound(ends, task) - ends.begin());
    body(b, task - (b > 0 ? ends[b - 1] : 0), scratch_.threads[static_cast<std::size_t>(thread)]);
  });
}

template <class Body>
void StepPass::each_slice(std::size_t l, Body&& body) {
  each_part([&](std::size_t b) { return slices_of(blocks_[b].layers[l].count, kSliceNeurons); }, body);
}

Rng StepPass::rng_of(Purpose purpose, std::size_t b, std::size_t place) const {
  return {network_.config().train.seed, purpose, key_.step, std::uint64_t{b} * 64 + place};
}

double StepPass::run(PhaseSeconds& phases) {
  LapClock clock;
  forward_input();
  phases.forward += clock.lap();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    select(l);
    phases.hashing += clock.lap();
    forward(l);
    phases.forward += clock.lap();
  }
  const double sum = loss();
  phases.forward += clock.lap();
  for (std::size_t l = layers_.size(); l-- > 0;) backward(l);
  phases.backward += clock.lap();
  return sum;
}

void StepPass::forward_input() {
  const bool wide = network_.wide();
  const std::size_t listings = (input_ != nullptr ? 1 : 0) + (wide ? 1 : 0);
  const auto parts_of = [&](std::size_t b) {
    return listings + (input_ != nullptr ? slices_of(blocks_[b].lanes, kSliceSamples) : 1);
  };
  each_part(parts_of, [&](std::size_t b, std::size_t part, ThreadScratch&) {
    Block& block = blocks_[b];
    if (wide && part == 0) return block.features.build(block.rows, block.lanes);
    if (input_ == nullptr) return block.columns.build(block.rows, block.lanes);
    if (part + 1 == listings) return input_->list_touched(block);
    const InputLayer& layer = *network_.input();
    const Slice samples = slice_of(part - listings, block.lanes, kSliceSamples);
    layer.forward(block.rows, block.lanes, samples, block.input);
    if (layer.config().dropout <= 0 || samples.first >= block.samples()) return;
    const Slice used{samples.first, std::min(samples.end(), block.samples()) - samples.first};
    apply_dropout(layer.config().dropout, {0, layer.size()}, used, block.samples(), block.lanes,
                  rng_of(Purpose::kDropout, b, 0), block.input);
  });
}

void StepPass::select(std::size_t l) {
  if (!network_.layers()[l].sampled()) {  // all are active: too little for threads
    for (std::size_t b = 0; b < blocks_.size(); ++b) choose(l, b, scratch_.chosen.front().layers[l]);
    return;
  }
  const bool by_block = blocks_.size() < static_cast<std::size_t>(threads_);
  parallel_for(blocks_.size(), threads_, [&](std::size_t b, int thread) {
    choose(l, b, scratch_.chosen[by_block ? b : static_cast<std::size_t>(thread)].layers[l]);
  });
}

void StepPass::choose(std::size_t l, std::size_t b, LayerScratch& scratch) {
  Block& block = blocks_[b];
  LayerBlock& at = block.layers[l];
  const Layer& layer = network_.layers()[l];
  const std::span<const std::span<const std::uint32_t>> none;
  layer.select(network_.input_of(l, block), block.rows, layer.output() ? block.labels : none,
               rng_of(Purpose::kSampling, b, l), scratch, at);
  if (layer.output() && !softmax()) at.targets.build(targets_of(block));
}

BlockTargets StepPass::targets_of(const Block& block) const {
  const LayerBlock& out = block.layers.back();
  return {&out.set, out.count, block.samples(), block.lanes};
}

void StepPass::forward(std::size_t l) {
  const Layer& layer = network_.layers()[l];
  each_slice(l, [&](std::size_t b, std::size_t slice, ThreadScratch& scratch) {
    Block& block = blocks_[b];
    LayerBlock& at = block.layers[l];
    layer.forward(network_.input_of(l, block), slice, scratch.layers[l], at);
    if (layer.output()) {
      if (!softmax()) lose(b, slice), round(b, slice);
    } else if (layer.config().dropout > 0) {
      apply_dropout(layer.config().dropout, slice_of(slice, at.count, kSliceNeurons), {0, block.samples()},
                    block.samples(), block.lanes, rng_of(Purpose::kDropout, b, l + 1), at);
    }
  });
}

// One-vs-all loss of a slice; logits become deltas.
void StepPass::lose(std::size_t b, std::size_t slice) {
  LayerBlock& out = blocks_[b].layers.back();
  out.losses[slice] = logistic_loss(targets_of(blocks_[b]), slice_of(slice, out.count, kSliceNeurons),
                                    out.targets.slice(slice), network_.config().loss.positive_weight,
                                    key_.scale, out.out_t.data());
}

void StepPass::round(std::size_t b, std::size_t slice) {
  const Config& config = network_.config();
  Block& block = blocks_[b];
  LayerBlock& out = block.layers.back();
  if (!out.sparse.in_use()) return;
  const auto floor = static_cast<float>(config.loss.delta_floor) * key_.scale;
  out.sparse.round(floor, Rng(config.train.seed, Purpose::kDeltas, key_.step, b), slice,
                   slice_of(slice, out.count, kSliceNeurons), block.samples(), block.lanes, out.out_t.data());
}

double StepPass::loss() {
  const std::size_t last = layers_.size() - 1;
  const auto parts_of = [&](std::size_t b) {
    return softmax() ? slices_of(blocks_[b].lanes, kSliceSamples)
                     : slices_of(blocks_[b].layers[last].count, kSliceNeurons);
  };
  if (softmax()) {
    each_part(parts_of, [&](std::size_t b, std::size_t part, ThreadScratch& scratch) {
      LayerBlock& out = blocks_[b].layers[last];
      out.losses[part] = softmax_loss(targets_of(blocks_[b]), slice_of(part, blocks_[b].lanes, kSliceSamples),
                                      key_.scale, out.out_t.data(), scratch.log_norm.data());
    });
    if (blocks_.front().layers[last].sparse.in_use())
      each_slice(last, [&](std::size_t b, std::size_t slice, ThreadScratch&) { round(b, slice); });
  }
  double sum = 0.0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::vector<double>& losses = blocks_[b].layers[last].losses;
    sum += std::accumulate(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(parts_of(b)), 0.0);
  }
  return sum;
}

void StepPass::backward(std::size_t l) {
  const bool below = l > 0 || input_ != nullptr;
  const auto parts_of = [&](std::size_t b) {
    return 1 + (below ? slices_of(network_.input_of(l, blocks_[b]).width, kSliceColumns) : 0);
  };
  each_part(parts_of, [&](std::size_t b, std::size_t part, ThreadScratch& scratch) {
    if (part == 0) return layers_[l].list_touched(b, blocks_[b].layers[l]);
    const std::size_t width = network_.input_of(l, blocks_[b]).width;
    backward_units(l, b, slice_of(part - 1, width, kSliceColumns), scratch.layers[l]);
  });
}

void StepPass::backward_units(std::size_t l, std::size_t b, Slice units, LayerScratch& scratch) {
  Block& block = blocks_[b];
  const Layer& layer = network_.layers()[l];
  const LayerBlock& at = block.layers[l];
  LayerBlock& below = l == 0 ? block.input : block.layers[l - 1];
  float* dx = l == 0 ? input_->delta(block.first_sample) : below.delta.data();
  const float* delta = layer.output() ? at.out_t.data() : at.delta_t.data();
  layer.backward_input(network_.input_of(l, block), units, delta, scratch, at, dx, below.ldo);
  if (l > 0) {
    network_.layers()[l - 1].backward_activation(block.lanes, units, below);
  } else {
    input_->backward(*network_.input(), units, block);
  }
}

}  // namespace slide

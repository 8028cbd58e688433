#include "engine/network/step_pass.h"

#include <algorithm>
#include <numeric>

#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kTasksPerThread = 4;  // of a part, so that uneven ones balance

}  // namespace

StepPass::StepPass(const Network& network, std::span<Block> blocks, InputTraining* input,
                   std::span<const LayerTraining> layers, const PassScratch& scratch, const Key& key)
    : network_(network),
      blocks_(blocks),
      input_(input),
      layers_(layers),
      scratch_(scratch),
      key_(key),
      threads_(static_cast<int>(scratch.threads.size())),
      most_runs_(threads_ == 1 ? 1 : slices_of(kTasksPerThread * scratch.threads.size(), blocks.size())) {}

template <class TasksOf, class Body>
void StepPass::each_task(TasksOf&& tasks_of, Body&& body) {
  std::vector<std::size_t>& ends = scratch_.threads.front().ends;
  ends.clear();
  std::size_t tasks = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) ends.push_back(tasks += tasks_of(b));
  parallel_for(tasks, threads_, [&](std::size_t task, int thread) {
    const auto b = static_cast<std::size_t>(std::ranges::upper_bound(ends, task) - ends.begin());
    body(b, task - (b > 0 ? ends[b - 1] : 0), scratch_.threads[static_cast<std::size_t>(thread)]);
  });
}

template <class SlicesOf, class Body>
void StepPass::each_run(SlicesOf&& slices_of_block, Body&& body) {
  each_task([&](std::size_t b) { return runs_of(slices_of_block(b)); },
            [&](std::size_t b, std::size_t i, ThreadScratch& scratch) {
              body(b, run_of(i, slices_of_block(b)), scratch);
            });
}

Rng StepPass::rng_of(Purpose purpose, const Block& block, std::size_t place) const {
  return {network_.config().train.seed, purpose, key_.step, std::uint64_t{block.number} * 64 + place};
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
  const std::size_t listings = network_.wide() ? 1 : 0;
  const auto slices = [&](std::size_t b) { return slices_of(blocks_[b].lanes, kSliceSamples); };
  const auto tasks_of = [&](std::size_t b) {
    return listings + (input_ != nullptr ? runs_of(slices(b)) : 1);
  };
  each_task(tasks_of, [&](std::size_t b, std::size_t task, ThreadScratch&) {
    Block& block = blocks_[b];
    if (task < listings) return block.features.build(block.rows, block.lanes);
    if (input_ == nullptr) return block.columns.build(block.rows, block.lanes);
    const Slice run = run_of(task - listings, slices(b));
    for (std::size_t slice = run.first; slice < run.end(); ++slice) enter(block, slice);
  });
}

// First activations of a slice of samples; notes their features while they are at hand.
void StepPass::enter(Block& block, std::size_t slice) {
  const InputLayer& layer = *network_.input();
  const Slice samples = slice_of(slice, block.lanes, kSliceSamples);
  layer.forward(block.rows, block.lanes, samples, block.input);
  if (samples.first >= block.samples()) return;
  input_->list_touched(block, slice);
  if (layer.config().dropout <= 0) return;
  const Slice used{samples.first, std::min(samples.end(), block.samples()) - samples.first};
  apply_dropout(layer.config().dropout, {0, layer.size()}, used, block.samples(), block.lanes,
                rng_of(Purpose::kDropout, block, 0), block.input);
}

void StepPass::select(std::size_t l) {
  const Layer& layer = network_.layers()[l];
  if (!layer.sampled() && !layer.output()) {  // all are active, without labels: too little for threads
    for (Block& block : blocks_) choose(l, block, scratch_.chosen.front().layers[l]);
    return;
  }
  const bool by_block = blocks_.size() < static_cast<std::size_t>(threads_);
  parallel_for(blocks_.size(), threads_, [&](std::size_t b, int thread) {
    choose(l, blocks_[b], scratch_.chosen[by_block ? b : static_cast<std::size_t>(thread)].layers[l]);
  });
}

void StepPass::choose(std::size_t l, Block& block, LayerScratch& scratch) {
  LayerBlock& at = block.layers[l];
  const Layer& layer = network_.layers()[l];
  const std::span<const std::span<const std::uint32_t>> none;
  layer.select(network_.input_of(l, block), block.rows, layer.output() ? block.labels : none,
               rng_of(Purpose::kSampling, block, l), scratch, at);
  if (layer.output() && !softmax()) at.targets.build(targets_of(block));
}

BlockTargets StepPass::targets_of(const Block& block) const {
  const LayerBlock& out = block.layers.back();
  return {&out.set, out.count, block.samples(), block.lanes};
}

void StepPass::forward(std::size_t l) {
  const Layer& layer = network_.layers()[l];
  const auto slices = [&](std::size_t b) { return slices_of(blocks_[b].layers[l].count, kSliceNeurons); };
  each_run(slices, [&](std::size_t b, Slice run, ThreadScratch& scratch) {
    Block& block = blocks_[b];
    LayerBlock& at = block.layers[l];
    layer.forward(network_.input_of(l, block), run, scratch.layers[l], at);
    if (layer.output()) {
      if (softmax()) return;
      for (std::size_t i = run.first; i < run.end(); ++i) lose(block, i, at);
      round(block, run);
    } else if (layer.config().dropout > 0) {
      apply_dropout(layer.config().dropout, covered(run, at.count, kSliceNeurons), {0, block.samples()},
                    block.samples(), block.lanes, rng_of(Purpose::kDropout, block, l + 1), at);
    }
  });
}

// One-vs-all loss of a slice; logits become deltas.
void StepPass::lose(const Block& block, std::size_t slice, LayerBlock& out) const {
  out.losses[slice] =
      logistic_loss(targets_of(block), slice_of(slice, out.count, kSliceNeurons), out.targets.slice(slice),
                    network_.config().loss.positive_weight, key_.scale, out.out_t.data());
}

void StepPass::round(Block& block, Slice slices) const {
  const Config& config = network_.config();
  LayerBlock& out = block.layers.back();
  if (!out.sparse.in_use()) return;
  const auto floor = static_cast<float>(config.loss.delta_floor) * key_.scale;
  const Rng rng(config.train.seed, Purpose::kDeltas, key_.step, block.number);
  for (std::size_t i = slices.first; i < slices.end(); ++i) {
    out.sparse.round(floor, rng, i, slice_of(i, out.count, kSliceNeurons), block.samples(), block.lanes,
                     out.out_t.data());
  }
}

double StepPass::loss() {
  const auto lanes = [&](std::size_t b) { return slices_of(blocks_[b].lanes, kSliceSamples); };
  const auto neurons = [&](std::size_t b) {
    return slices_of(blocks_[b].layers.back().count, kSliceNeurons);
  };
  if (softmax()) {
    each_run(lanes, [&](std::size_t b, Slice run, ThreadScratch& scratch) {
      LayerBlock& out = blocks_[b].layers.back();
      softmax_loss(targets_of(blocks_[b]), covered(run, blocks_[b].lanes, kSliceSamples), key_.scale,
                   out.out_t.data(), scratch.log_norm.data(), out.losses.data());
    });
    if (blocks_.front().layers.back().sparse.in_use())
      each_run(neurons, [&](std::size_t b, Slice run, ThreadScratch&) { round(blocks_[b], run); });
  }
  double sum = 0.0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::vector<double>& losses = blocks_[b].layers.back().losses;
    const std::size_t count = softmax() ? blocks_[b].lanes : neurons(b);
    sum += std::accumulate(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
  }
  return sum;
}

void StepPass::backward(std::size_t l) {
  const bool below = l > 0 || input_ != nullptr;
  const auto slices = [&](std::size_t b) {
    return below ? slices_of(network_.input_of(l, blocks_[b]).width, kSliceColumns) : 0;
  };
  const auto tasks_of = [&](std::size_t b) { return 1 + runs_of(slices(b)); };
  each_task(tasks_of, [&](std::size_t b, std::size_t task, ThreadScratch& scratch) {
    Block& block = blocks_[b];
    if (task == 0) return layers_[l].list_touched(block.number, block.layers[l]);
    const std::size_t width = network_.input_of(l, block).width;
    const Slice units = covered(run_of(task - 1, slices(b)), width, kSliceColumns);
    backward_units(l, block, units, scratch.layers[l]);
  });
}

void StepPass::backward_units(std::size_t l, Block& block, Slice units, LayerScratch& scratch) {
  const Layer& layer = network_.layers()[l];
  const LayerBlock& at = block.layers[l];
  LayerBlock& below = l == 0 ? block.input : block.layers[l - 1];
  float* dx = l == 0 ? input_->delta(block.first_sample()) : below.delta.data();
  const float* delta = layer.output() ? at.out_t.data() : at.delta_t.data();
  layer.backward_input(network_.input_of(l, block), units, delta, scratch, at, dx, below.ldo);
  if (l > 0) {
    network_.layers()[l - 1].backward_activation(block.lanes, units, below);
  } else {
    input_->backward(*network_.input(), units, block);
  }
}

}  // namespace slide

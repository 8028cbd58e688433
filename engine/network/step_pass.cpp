#include "engine/network/step_pass.h"

#include <algorithm>
#include <numeric>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr std::size_t kTasksPerThread = 8;  // of a part, so that uneven ones balance
constexpr std::size_t kSampleRuns = 4;      // of a gradient of inputs, at most: each looks through all deltas

}  // namespace

StepPass::StepPass(const Network& network, std::span<Block> blocks, InputTraining* input, PartJoin* join,
                   std::span<const LayerTraining> layers, const PassScratch& scratch, const Key& key)
    : network_(network),
      blocks_(blocks),
      input_(input),
      join_(join),
      layers_(layers),
      scratch_(scratch),
      key_(key),
      threads_(static_cast<int>(scratch.threads.size())),
      most_runs_(threads_ == 1 ? 1 : slices_of(kTasksPerThread * scratch.threads.size(), blocks.size())) {}

// Block and, of the parts of an output layer, which.
std::uint64_t StepPass::number_of(Place place) const {
  const std::uint64_t part = network_.output().number_of(place.part);
  return blocks_[place.b].number + (part << 32);
}

Rng StepPass::rng_of(Purpose purpose, Place place, std::size_t what) const {
  return {network_.config().train.seed, purpose, key_.step, number_of(place) * 64 + what};
}

StepSums StepPass::run(PhaseSeconds& phases) {
  LapClock clock;
  if (join_ != nullptr && input_ != nullptr) {
    each_group([&] { forward_input_parts(); });
    each_group([&] {
      index_features();
      group_->hidden.pass_on(threads_);
    });
    each_group([&] {
      activate_parts();
      forward_layers(phases, clock);
    });
  } else {
    forward_input();
    forward_layers(phases, clock);
  }
  const StepSums own = sums();
  phases.forward += clock.lap();
  return own;
}

// Forward and backward of layers of which the first has its input.
void StepPass::forward_layers(PhaseSeconds& phases, LapClock& clock) {
  phases.forward += clock.lap();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    select(l);
    phases.hashing += clock.lap();
    forward(l);
    phases.forward += clock.lap();
  }
  if (under_softmax()) softmax();
  phases.forward += clock.lap();
  for (std::size_t l = layers_.size(); l-- > 0;) backward(l);
  phases.backward += clock.lap();
}

// Calls body() for each group of blocks, which are blocks_ meanwhile.
template <class Body>
void StepPass::each_group(Body&& body) {
  const std::span<Block> all = blocks_;
  for (PartJoin::Group& group : join_->groups(all.size())) {
    group_ = &group;
    blocks_ = all.subspan(group.blocks.first, group.used(all.size()));
    body();
  }
  group_ = nullptr;
  blocks_ = all;
}

void StepPass::forward_input() {
  const auto slices = [&](Place place) { return slices_of(blocks_[place.b].lanes, kSliceSamples); };
  const auto tasks_of = [&](Place place) { return input_ != nullptr ? runs_of(slices(place)) : 1; };
  each_task(1, tasks_of, [&](Place place, std::size_t task, ThreadScratch&) {
    Block& block = blocks_[place.b];
    if (input_ == nullptr) return network_.enter_rows(block);
    const Slice run = run_of(task, slices(place));
    for (std::size_t slice = run.first; slice < run.end(); ++slice) forward_input_slice(block, slice);
  });
  if (threads_ == 1) index_features();  // threads do so beside the choice of neurons
}

// First activations of a slice of samples.
void StepPass::forward_input_slice(Block& block, std::size_t slice) {
  const Slice samples = slice_of(slice, block.lanes, kSliceSamples);
  if (network_.dense() > 0) {
    block.dense.transpose(slice, block.samples(), block.lanes);
    network_.input()->forward(block.rows, block.dense, block.lanes, slice, block.input);
  } else {
    network_.input()->forward(block.rows, block.lanes, samples, block.input);
  }
  drop_input(block, samples);
}

void StepPass::drop_input(Block& block, Slice samples) {
  const InputLayer& layer = *network_.input();
  if (layer.config().dropout <= 0 || samples.first >= block.samples()) return;
  const Slice used{samples.first, std::min(samples.end(), block.samples()) - samples.first};
  const Rng rng(network_.config().train.seed, Purpose::kDropout, key_.step, std::uint64_t{block.number} * 64);
  apply_dropout(layer.config().dropout, {0, layer.size()}, used, block.samples(), block.lanes, rng,
                block.input);
}

// Sends what the own parts add to the first activations.
void StepPass::forward_input_parts() {
  const auto slices = [&](Place place) { return slices_of(blocks_[place.b].lanes, kSliceSamples); };
  each_run(parts_of(last()), slices, [&](Place place, Slice run, ThreadScratch& scratch) {
    for (std::size_t slice = run.first; slice < run.end(); ++slice)
      forward_input_part(place, slice, scratch.sums);
  });
  group_->hidden.start(blocks_.size(), threads_);
}

// Tasks of note() for a block.
std::size_t StepPass::index_tasks_of(const Block& block) const {
  const std::size_t listed = input_ != nullptr ? runs_of(slices_of(block.lanes, kSliceSamples)) : 0;
  return feature_parts(block) + listed;
}

// In how many parts the features of a block are told apart: runs of shards, which are even ones.
std::size_t StepPass::feature_parts(const Block& block) const {
  if (!network_.wide()) return 0;
  if (input_ == nullptr || block.split || threads_ == 1) return 1;
  return std::min<std::size_t>(BlockFeatures::kMaxParts, input_->shards().size());
}

// What needs no activations: the block's features for the wide path, and by shard for the update.
void StepPass::index_block_features(Block& block, std::size_t task) const {
  const std::size_t parts = feature_parts(block);
  if (task >= parts) {
    const Slice run = run_of(task - parts, slices_of(block.lanes, kSliceSamples));
    for (std::size_t slice = run.first; slice < run.end(); ++slice) {
      if (slice * kSliceSamples < block.samples()) input_->list_touched(block, slice);
    }
    return;
  }
  const auto all = static_cast<std::uint32_t>(network_.sample_features());
  if (parts == 1) return block.features.build(block.rows, block.lanes, all);
  const auto border = [&](std::size_t part) {  // a multiple of 32, but for the last
    const std::uint32_t shards = input_->shards().size();
    if (part == 0 || part == parts) return part == 0 ? 0 : all;
    const std::uint32_t end = input_->shards().end(static_cast<std::uint32_t>(shards * part / parts) - 1);
    return std::min(end, all) / 32 * 32;
  };
  block.features.build(block.rows, block.lanes, {border(task), border(task + 1)}, task);
}

// Before note().
void StepPass::clear_features() {
  if (!network_.wide()) return;
  for (Block& block : blocks_) block.features.clear();
}

void StepPass::index_features() {
  clear_features();
  each_task(
      1, [&](Place place) { return index_tasks_of(blocks_[place.b]); },
      [&](Place place, std::size_t task, ThreadScratch&) { index_block_features(blocks_[place.b], task); });
}

// First activations from what all parts add to them.
void StepPass::activate_parts() {
  const auto slices = [&](Place place) { return slices_of(blocks_[place.b].lanes, kSliceSamples); };
  group_->hidden.finish();
  each_run(1, slices, [&](Place place, Slice run, ThreadScratch&) { activate(place, run); });
}

// What a part adds to the first activations of a slice of samples.
void StepPass::forward_input_part(Place place, std::size_t slice, std::vector<float>& sums) {
  const Block& block = blocks_[place.b];
  const InputLayer& layer = *network_.input();
  const Slice samples = slice_of(slice, block.lanes, kSliceSamples);
  for (std::size_t s = samples.first; s < std::min(samples.end(), block.samples()); ++s) {
    sums.assign(layer.ldo(), 0.0f);
    layer.add_features(block.entered()[s], network_.features_of(place.part), sums.data());
    kernels::active().narrow_nearest(sums.data(), layer.size(),
                                     group_->hidden.partial(place.b, place.part, s));
  }
}

// First activations of a run of slices of samples, from the sums over parts.
void StepPass::activate(Place place, Slice run) {
  const InputLayer& layer = *network_.input();
  Block& block = blocks_[place.b];
  const Slice samples = covered(run, block.lanes, kSliceSamples);
  const auto sum_of = [&](std::size_t s, float* h) {
    kernels::active().widen(group_->hidden.row(place.b, s), layer.size(), h);
  };
  layer.activate(block.samples(), block.lanes, samples, sum_of, block.input);
  drop_input(block, samples);
}

// Beside the first layer's choice, whose tasks are few and long, threads do what note() does.
void StepPass::select(std::size_t l) {
  const Layer& layer = network_.layers()[l];
  const std::size_t parts = parts_of(l), places = blocks_.size() * parts;
  const auto place = [&](std::size_t i) { return Place{i / parts, i % parts}; };
  const bool dense = !layer.sampled() && !layer.output();  // all are active: too little for threads
  for (std::size_t i = 0; dense && i < places; ++i)
    select_active(l, place(i), scratch_.chosen.front().layers[l]);
  const std::size_t chosen = dense ? 0 : places;
  const std::size_t notes = l > 0 || group_ != nullptr || threads_ == 1 ? 0 : index_tasks_of(blocks_.front());
  if (notes > 0) clear_features();
  const bool by_place = places <= scratch_.chosen.size();
  parallel_for(chosen + notes * blocks_.size(), threads_, [&](std::size_t i, int thread) {
    if (i >= chosen) return index_block_features(blocks_[(i - chosen) / notes], (i - chosen) % notes);
    select_active(l, place(i), scratch_.chosen[by_place ? i : static_cast<std::size_t>(thread)].layers[l]);
  });
}

void StepPass::select_active(std::size_t l, Place place, LayerScratch& scratch) {
  const Block& block = blocks_[place.b];
  const Layer& layer = network_.layers()[l];
  Layer::Query query{block.rows, {}};
  if (layer.output()) {
    query.labels = block.labels;
    query.left_out = block.left_out;
  }
  layer.select(place.part, network_.input_of(l, block), query, rng_of(Purpose::kSampling, place, l), scratch,
               at(l, place));
  if (layer.output() && !under_softmax()) at(l, place).targets.build(targets_of(place));
  if (layer.output() && !block.left_out.empty()) at(l, place).left_out.build_left_out(targets_of(place));
}

BlockTargets StepPass::targets_of(Place place) const {
  const Block& block = blocks_[place.b];
  const LayerBlock& out = at(last(), place);
  BlockTargets targets{&out.set, out.count, block.samples(), block.lanes};
  if (join_ != nullptr || !key_.label_weights.empty()) targets.labels = block.labels;
  if (key_.label_weights.empty()) return targets;
  targets.weights = key_.label_weights;
  targets.first = network_.output().weights().first + (out.all ? out.first : 0);
  targets.ids = out.all ? nullptr : out.set.ids.data();
  return targets;
}

void StepPass::forward(std::size_t l) {
  const Layer& layer = network_.layers()[l];
  const auto slices = [&](Place place) { return slices_of(at(l, place).count, kSliceNeurons); };
  each_run(parts_of(l), slices, [&](Place place, Slice run, ThreadScratch& scratch) {
    const Block& block = blocks_[place.b];
    LayerBlock& mine = at(l, place);
    layer.forward(network_.input_of(l, block), run, scratch.layers[l], mine);
    if (layer.output()) {
      mask(place, run);
      if (under_softmax()) return;
      for (std::size_t i = run.first; i < run.end(); ++i) compute_loss(place, i);
      sparsify(place, run);
    } else if (layer.config().dropout > 0) {
      apply_dropout(layer.config().dropout, covered(run, mine.count, kSliceNeurons), {0, block.samples()},
                    block.samples(), block.lanes, rng_of(Purpose::kDropout, place, l + 1), mine);
    }
  });
}

// The logits of neurons that samples leave out.
void StepPass::mask(Place place, Slice slices) const {
  const Block& block = blocks_[place.b];
  LayerBlock& out = at(last(), place);
  if (block.left_out.empty()) return;
  for (std::size_t i = slices.first; i < slices.end(); ++i) {
    slide::leave_out(block.lanes, slice_of(i, out.count, kSliceNeurons), out.left_out.slice(i),
                     out.out_t.data());
  }
}

// One-vs-all loss of a slice; logits become deltas.
void StepPass::compute_loss(Place place, std::size_t slice) const {
  LayerBlock& out = at(last(), place);
  const BlockTargets targets = targets_of(place);
  const Slice neurons = slice_of(slice, out.count, kSliceNeurons);
  out.losses[slice] = logistic_loss(targets, neurons, out.targets.slice(slice),
                                    network_.config().loss.positive_weight, key_.scale, out.out_t.data());
  weigh(targets, neurons, {0, targets.samples}, blocks_[place.b].weights, out.out_t.data());
}

void StepPass::sparsify(Place place, Slice slices) const {
  const Config& config = network_.config();
  const Block& block = blocks_[place.b];
  LayerBlock& out = at(last(), place);
  if (!out.sparse.in_use()) return;
  const auto floor = static_cast<float>(config.loss.gradient_threshold) * key_.scale;
  const Rng rng(config.train.seed, Purpose::kDeltas, key_.step, number_of(place));
  for (std::size_t i = slices.first; i < slices.end(); ++i) {
    out.sparse.sparsify(floor, rng, i, slice_of(i, out.count, kSliceNeurons), block.samples(), block.lanes,
                        out.out_t.data());
  }
}

double StepPass::loss_of(Place place) const {
  const LayerBlock& out = at(last(), place);
  const std::size_t count = under_softmax() ? blocks_[place.b].lanes : slices_of(out.count, kSliceNeurons);
  return std::accumulate(out.losses.begin(), out.losses.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
}

StepSums StepPass::sums() {
  for (std::size_t part = 0; part < parts_of(last()); ++part) {
    StepSums own;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      own.loss += loss_of({b, part});
      const LayerBlock& out = at(last(), {b, part});
      own.active += double(out.count) * double(blocks_[b].samples());
      own.sources.add(out.set.sources, double(blocks_[b].samples()));
    }
    if (join_ == nullptr) return own;
    join_->put(part, own);
  }
  join_->start_sum();
  return {};
}

void StepPass::backward(std::size_t l) {
  const bool below = l > 0 || input_ != nullptr, joined = join_ != nullptr && below;
  const auto tasks_of = [&](Place place) { return 1 + (below ? cells_of(l, place).size() : 0); };
  each_task(parts_of(l), tasks_of, [&](Place place, std::size_t task, ThreadScratch& scratch) {
    const std::size_t number = blocks_[place.b].number * parts_of(l) + place.part;
    if (task == 0) return layers_[l].list_touched(number, at(l, place));
    const SliceCell cell = cells_of(l, place).cell(task - 1);
    if (joined) {
      backward_part(place, cell, scratch.layers[l]);
    } else {
      backward_cell(l, place, cell, scratch.layers[l]);
    }
  });
  if (joined) group_->gradient.start(blocks_.size(), threads_);  // NetworkTraining::update() finishes it
}

// The tasks of the gradient of a layer's input: runs of slices of units; where these are less than the
// threads need, each of some of the samples too, which only listed deltas can be told apart by.
SliceCells StepPass::cells_of(std::size_t l, Place place) const {
  const std::size_t width = network_.input_of(l, blocks_[place.b]).width, lanes = blocks_[place.b].lanes;
  const std::size_t units = slices_of(width, kSliceColumns), samples = slices_of(lanes, kSliceSamples);
  SliceCells cells{width, lanes, runs_of(units), 1};
  const std::size_t wanted = scratch_.threads.size(),
                    there = std::max<std::size_t>(blocks_.size() * units, 1);
  if (at(l, place).sparse.in_use() && wanted > there)
    cells.sample_runs = std::min({samples, slices_of(wanted, there), kSampleRuns});
  return cells;
}

void StepPass::backward_cell(std::size_t l, Place place, const SliceCell& cell, LayerScratch& scratch) {
  Block& block = blocks_[place.b];
  const Layer& layer = network_.layers()[l];
  const LayerBlock& mine = at(l, place);
  LayerBlock& below = l == 0 ? block.input : block.layers[l - 1];
  float* dx = l == 0 ? input_->delta(block.first_sample()) : below.delta.data();
  const float* delta = layer.output() ? mine.out_t.data() : mine.delta_t.data();
  layer.backward_input(network_.input_of(l, block), cell, delta, scratch, mine, dx, below.ldo);
  if (l > 0) {
    network_.layers()[l - 1].backward_activation(block.lanes, cell, below);
  } else {
    input_->backward(*network_.input(), cell, block);
  }
}

// What a part of the output layer adds to the gradient of some units of the first.
void StepPass::backward_part(Place place, const SliceCell& cell, LayerScratch& scratch) {
  const Block& block = blocks_[place.b];
  const LayerBlock& mine = at(0, place);
  const std::size_t ldx = network_.input()->ldo();
  float* dx = join_->delta(block.number, place.part);
  network_.layers()[0].backward_input(network_.input_of(0, block), cell, mine.out_t.data(), scratch, mine, dx,
                                      ldx);
  const Slice units = cell.units;
  for (std::size_t s = cell.samples.first; s < std::min(cell.samples.end(), block.samples()); ++s)
    kernels::active().narrow_nearest(dx + s * ldx + units.first, units.count,
                                     group_->gradient.partial(place.b, place.part, s) + units.first / 2);
}

}  // namespace slide

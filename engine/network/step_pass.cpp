#include "engine/network/step_pass.h"

#include <algorithm>

namespace slide {

namespace {

// Max tasks that divide the samples of an input gradient, as each of them reads all listed deltas.
constexpr std::size_t kSampleRuns = 4;

}  // namespace

StepPass::StepPass(const StepView& step, const StepSchedule& schedule, std::span<const LayerTraining> layers,
                   PartJoin* join)
    : step_(step), all_(schedule), layers_(layers) {
  if (join != nullptr) split_.emplace(step_, *join);
}

// A network in parts needs sums over all parts: while the pre-activations of one group of blocks are sent,
// features are indexed and other groups are computed. Then each group runs its layers.
StepSums StepPass::run(PhaseSeconds& phases) {
  LapClock clock;
  if (split_ && step_.input != nullptr) {
    using Group = PartJoin::Group;
    split_->each_group(all_,
                       [&](const StepSchedule& some, Group& group) { split_->start_input(some, group); });
    split_->each_group(all_, [&](const StepSchedule& some, Group& group) {
      index_features(some);
      group.hidden.reduce(some.threads());
    });
    split_->each_group(all_, [&](const StepSchedule& some, Group& group) {
      split_->finish_input(some, group);
      forward_layers({some, &group}, phases, clock);
    });
  } else {
    forward_input();
    forward_layers({all_}, phases, clock);
  }
  const StepSums own = sums();
  phases.forward += clock.lap();
  return own;
}

// Forward, loss and backward of the layers stored by neuron.
void StepPass::forward_layers(const Batch& batch, PhaseSeconds& phases, LapClock& clock) {
  phases.forward += clock.lap();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    select(batch, l);
    phases.hashing += clock.lap();
    forward(batch.schedule, l);
    phases.forward += clock.lap();
  }
  if (step_.normalised_loss()) softmax(batch.schedule);
  phases.forward += clock.lap();
  for (std::size_t l = layers_.size(); l-- > 0;) backward(batch, l);
  phases.backward += clock.lap();
}

// Tiles of samples through the input layer; without one, each block prepares its features as columns.
void StepPass::forward_input() {
  const auto tasks_of = [&](const BlockPart& at) {
    return step_.input != nullptr ? all_.tasks_for(at.sample_slices()) : 1;
  };
  all_.each_task(1, tasks_of, [&](const BlockPart& at, std::size_t task, ThreadScratch&) {
    if (step_.input == nullptr) return step_.network.enter_rows(at.block);
    const Slice slices = all_.tiles_of(task, at.sample_slices());
    for (std::size_t slice = slices.first; slice < slices.end(); ++slice)
      forward_input_tile(step_, at.block, slice);
  });
  if (all_.alone()) index_features(all_);  // several threads do so in select()
}

std::size_t StepPass::index_tasks_of(const Block& block) const {
  const std::size_t slices = slices_of(block.lanes, kSliceSamples);
  return feature_parts(block) + (step_.input != nullptr ? all_.tasks_for(slices) : 0);
}

// Number of ranges in which the features of a block are indexed for the linear term.
std::size_t StepPass::feature_parts(const Block& block) const {
  if (!step_.network.wide()) return 0;
  if (step_.input == nullptr || block.split || all_.alone()) return 1;
  return std::min<std::size_t>(BlockFeatures::kMaxParts, step_.input->shards().size());
}

// Indexes a block's features for the linear term, or by shard for the update.
void StepPass::index_task(Block& block, std::size_t task) const {
  const std::size_t parts = feature_parts(block);
  if (task < parts) return index_features_tile(step_, block, task, parts);
  const Slice slices = all_.tiles_of(task - parts, slices_of(block.lanes, kSliceSamples));
  for (std::size_t slice = slices.first; slice < slices.end(); ++slice) {
    if (slice * kSliceSamples < block.samples()) step_.input->list_touched(block, slice);
  }
}

// Call before index_task().
void StepPass::clear_features(const StepSchedule& schedule) const {
  if (!step_.network.wide()) return;
  for (Block& block : schedule.blocks()) block.features.clear();
}

void StepPass::index_features(const StepSchedule& schedule) {
  clear_features(schedule);
  schedule.each_task(
      1, [&](const BlockPart& at) { return index_tasks_of(at.block); },
      [&](const BlockPart& at, std::size_t task, ThreadScratch&) { index_task(at.block, task); });
}

// Selects active neurons. These tasks are few and long: for the first layer, other threads index features at
// the same time.
void StepPass::select(const Batch& batch, std::size_t l) {
  const StepSchedule& schedule = batch.schedule;
  const Layer& layer = step_.network.layers()[l];
  const std::size_t parts = step_.parts_of(l), selections = schedule.blocks().size() * parts;
  const bool all_active = !layer.sampled() && !layer.output();  // too little work for threads
  for (std::size_t i = 0; all_active && i < selections; ++i)
    select_tile(step_, l, schedule.part(i, parts), schedule.select_scratch(0, 1, 0).layers[l]);
  // Tasks: the selections, then those that index the features of each block, unless this was done before.
  const std::size_t select_tasks = all_active ? 0 : selections;
  const bool indexed = l > 0 || batch.group != nullptr || schedule.alone();
  const std::size_t index_tasks = indexed ? 0 : index_tasks_of(schedule.blocks().front());
  if (index_tasks > 0) clear_features(schedule);
  const std::size_t tasks = select_tasks + index_tasks * schedule.blocks().size();
  parallel_for(tasks, schedule.threads(), [&](std::size_t i, int thread) {
    if (i >= select_tasks) {
      const std::size_t task = i - select_tasks;
      return index_task(schedule.blocks()[task / index_tasks], task % index_tasks);
    }
    select_tile(step_, l, schedule.part(i, parts),
                schedule.select_scratch(i, selections, static_cast<std::size_t>(thread)).layers[l]);
  });
}

// Tiles are runs of slices of active neurons; a local loss follows in the same tile.
void StepPass::forward(const StepSchedule& schedule, std::size_t l) {
  const auto slices = [&](const BlockPart& at) { return at.neuron_slices(l); };
  const bool local_loss = l == step_.last() && !step_.normalised_loss();
  schedule.each_run(step_.parts_of(l), slices, [&](const BlockPart& at, Slice run, ThreadScratch& scratch) {
    forward_tile(step_, l, at, run, scratch.layers[l]);
    if (!local_loss) return;
    for (std::size_t i = run.first; i < run.end(); ++i) loss_tile(step_, at, i);
    sparsify_tile(step_, at, run);
  });
}

// Softmax by ranges of samples, then sparsification by ranges of neurons.
void StepPass::softmax(const StepSchedule& schedule) {
  const std::size_t last = step_.last(), parts = step_.parts_of(last);
  if (split_) {
    split_->softmax(schedule);
  } else {
    const auto slices = [](const BlockPart& at) { return at.sample_slices(); };
    schedule.each_run(parts, slices, [&](const BlockPart& at, Slice run, ThreadScratch& scratch) {
      softmax_tile(step_, at, covered(run, at.block.lanes, kSliceSamples), scratch.log_norm);
    });
  }
  if (!schedule.part(0, parts).at(last).sparse.in_use()) return;
  const auto slices = [&](const BlockPart& at) { return at.neuron_slices(last); };
  schedule.each_run(parts, slices,
                    [&](const BlockPart& at, Slice run, ThreadScratch&) { sparsify_tile(step_, at, run); });
}

// Task 0 of a block lists the rows with a gradient; task i > 0 computes cell i - 1 of the input's gradient.
void StepPass::backward(const Batch& batch, std::size_t l) {
  const StepSchedule& schedule = batch.schedule;
  const std::size_t parts = step_.parts_of(l), blocks = schedule.blocks().size();
  const bool below = l > 0 || step_.input != nullptr, joined = split_ && below;
  const auto tasks_of = [&](const BlockPart& at) { return 1 + (below ? cells_of(at, l, blocks).size() : 0); };
  schedule.each_task(parts, tasks_of, [&](const BlockPart& at, std::size_t task, ThreadScratch& scratch) {
    if (task == 0) return layers_[l].list_touched(at.block.number * parts + at.part, at.at(l));
    const SliceCell cell = cells_of(at, l, blocks).cell(task - 1);
    if (joined) return split_->backward_tile(at, cell, scratch.layers[l], *batch.group);
    backward_tile(step_, l, at, cell, scratch.layers[l]);
  });
  if (joined)
    batch.group->gradient.start(blocks, schedule.threads());  // NetworkTraining::update() finishes it
}

// Rectangles (tasks) of the gradient of a layer's input: ranges of units. Where these are fewer than the
// threads, also ranges of samples, which only sparse deltas allow.
SliceCells StepPass::cells_of(const BlockPart& at, std::size_t l, std::size_t blocks) const {
  const std::size_t width = step_.network.input_of(l, at.block).width, lanes = at.block.lanes;
  const std::size_t units = slices_of(width, kSliceColumns), samples = slices_of(lanes, kSliceSamples);
  SliceCells cells{width, lanes, all_.tasks_for(units), 1};
  const auto threads = static_cast<std::size_t>(all_.threads());
  const std::size_t unit_tasks = std::max<std::size_t>(blocks * units, 1);
  if (at.at(l).sparse.in_use() && threads > unit_tasks)
    cells.sample_runs = std::min({samples, slices_of(threads, unit_tasks), kSampleRuns});
  return cells;
}

// Sums by part. A network in parts sends them to PartJoin and returns nothing here.
StepSums StepPass::sums() {
  const std::size_t last = step_.last(), parts = step_.parts_of(last);
  for (std::size_t part = 0; part < parts; ++part) {
    StepSums own;
    for (Block& block : all_.blocks()) {
      const BlockPart at{block, part};
      own.loss += loss_of(step_, at);
      own.active += double(at.at(last).count) * double(block.samples());
      own.sources.add(at.at(last).set.sources, double(block.samples()));
    }
    if (!split_) return own;
    split_->put_sums(part, own);
  }
  split_->start_sums();
  return {};
}

}  // namespace slide

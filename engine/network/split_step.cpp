#include "engine/network/split_step.h"

#include <algorithm>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {

std::size_t sample_slices(const BlockPart& at) {
  return at.sample_slices();
}

// Number of a block in its group.
std::size_t number_in(const PartJoin::Group& group, const BlockPart& at) {
  return at.block.number - group.blocks.first;
}

// The samples of a slice that are in use.
Slice used_samples(const Block& block, Slice samples) {
  return {samples.first, std::max(samples.first, std::min(samples.end(), block.samples())) - samples.first};
}

}  // namespace

// Sums of value * row over the features of each part, as bfloat16 partial sums.
void SplitStep::start_input(const StepSchedule& schedule, PartJoin::Group& group) const {
  const InputLayer& layer = *step_.network.input();
  const std::size_t parts = step_.parts_of(step_.last());
  schedule.each_run(parts, sample_slices, [&](const BlockPart& at, Slice slices, ThreadScratch& scratch) {
    const Slice samples = used_samples(at.block, covered(slices, at.block.lanes, kSliceSamples));
    for (std::size_t s = samples.first; s < samples.end(); ++s) {
      scratch.sums.assign(layer.ldo(), 0.0f);
      layer.add_features(at.block.entered()[s], step_.network.features_of(at.part), scratch.sums.data());
      kernels::active().narrow_nearest(scratch.sums.data(), layer.size(),
                                       group.hidden.partial(number_in(group, at), at.part, s));
    }
  });
  group.hidden.start(schedule.blocks().size(), schedule.threads());
}

// Tiles of samples: sum over the parts, bias, activation, dropout.
void SplitStep::finish_input(const StepSchedule& schedule, PartJoin::Group& group) const {
  const InputLayer& layer = *step_.network.input();
  group.hidden.finish();
  schedule.each_run(1, sample_slices, [&](const BlockPart& at, Slice slices, ThreadScratch&) {
    Block& block = at.block;
    const Slice samples = covered(slices, block.lanes, kSliceSamples);
    const auto sum_of = [&](std::size_t s, float* h) {
      kernels::active().widen(group.hidden.row(number_in(group, at), s), layer.size(), h);
    };
    layer.activate(block.samples(), block.lanes, samples, sum_of, block.input);
    drop_input(step_, block, samples);
  });
}

// Softmax within each part; exchange of the parts' norms; their total; then each part is scaled to the
// total.
void SplitStep::softmax(const StepSchedule& schedule) const {
  const std::size_t parts = step_.parts_of(step_.last());
  schedule.each_run(parts, sample_slices, [&](const BlockPart& at, Slice slices, ThreadScratch&) {
    LayerBlock& out = at.at(step_.last());
    softmax_part(targets_of(step_, at), covered(slices, at.block.lanes, kSliceSamples), step_.key.scale,
                 out.out_t.data(), join_.norms(at.block.number, at.part), out.losses.data());
  });
  join_.join_norms({schedule.blocks().front().number, schedule.blocks().size()});
  schedule.each_run(1, sample_slices, [&](const BlockPart& at, Slice slices, ThreadScratch&) {
    join_.fill_total(at.block.number, covered(slices, at.block.lanes, kSliceSamples));
  });
  schedule.each_run(parts, sample_slices, [&](const BlockPart& at, Slice slices, ThreadScratch& scratch) {
    softmax_join_tile(at, covered(slices, at.block.lanes, kSliceSamples), scratch.sums);
  });
}

// Copies the norms, which softmax_join() overwrites. The process of part 0 adds the log-norm to the loss,
// once.
void SplitStep::softmax_join_tile(const BlockPart& at, Slice samples, std::vector<float>& norms) const {
  LayerBlock& out = at.at(step_.last());
  const BlockTargets targets = targets_of(step_, at);
  const float* total = join_.total(at.block.number);
  norms.resize(at.block.lanes);
  std::copy_n(join_.norms(at.block.number, at.part) + samples.first, samples.count,
              norms.data() + samples.first);
  softmax_join(targets, samples, step_.key.scale, total, out.out_t.data(), norms.data());
  weigh(targets, {0, out.count}, samples, at.block.weights, out.out_t.data());
  if (step_.network.output().number_of(at.part) != 0) return;
  for (std::size_t s = samples.first; s < std::min(samples.end(), targets.samples); ++s) {
    if (targets.count_labels(s) > 0) out.losses[s] += targets.weight_of_sample(s) * total[s];
  }
}

// Computes dx of this part in fp32, and rounds it to the bfloat16 partial sums of group.gradient.
void SplitStep::backward_tile(const BlockPart& at, const SliceCell& cell, LayerScratch& scratch,
                              PartJoin::Group& group) const {
  const LayerBlock& mine = at.at(0);
  const std::size_t ldx = step_.network.input()->ldo();
  float* dx = join_.delta(at.block.number, at.part);
  step_.network.layers()[0].backward_input(step_.network.input_of(0, at.block), cell, mine.out_t.data(),
                                           scratch, mine, dx, ldx);
  const Slice units = cell.units, samples = used_samples(at.block, cell.samples);
  for (std::size_t s = samples.first; s < samples.end(); ++s)
    kernels::active().narrow_nearest(
        dx + s * ldx + units.first, units.count,
        group.gradient.partial(number_in(group, at), at.part, s) + units.first / 2);
}

}  // namespace slide

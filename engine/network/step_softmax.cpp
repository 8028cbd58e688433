#include <algorithm>

#include "engine/network/step_pass.h"

namespace slide {

// Loss and deltas under softmax, which is over the active neurons of all parts.
void StepPass::softmax() {
  const std::size_t parts = parts_of(last());
  const auto lanes = [&](Place place) { return slices_of(blocks_[place.b].lanes, kSliceSamples); };
  const auto each = [&](const auto& body) {
    each_run(parts, lanes, [&](Place place, Slice run, ThreadScratch& scratch) {
      body(place, covered(run, blocks_[place.b].lanes, kSliceSamples), at(last(), place), scratch);
    });
  };
  if (join_ == nullptr) {
    each([&](Place place, Slice samples, LayerBlock& out, ThreadScratch& scratch) {
      const BlockTargets targets = targets_of(place);
      softmax_loss(targets, samples, key_.scale, out.out_t.data(), scratch.log_norm.data(),
                   out.losses.data());
      weigh(targets, {0, out.count}, samples, blocks_[place.b].weights, out.out_t.data());
    });
  } else {
    each([&](Place place, Slice samples, LayerBlock& out, ThreadScratch&) {
      softmax_part(targets_of(place), samples, key_.scale, out.out_t.data(),
                   join_->norms(blocks_[place.b].number, place.part), out.losses.data());
    });
    join_->join_norms({blocks_.front().number, blocks_.size()});
    each_run(1, lanes, [&](Place place, Slice run, ThreadScratch&) {
      join_->fill_total(blocks_[place.b].number, covered(run, blocks_[place.b].lanes, kSliceSamples));
    });
    each([&](Place place, Slice samples, LayerBlock& out, ThreadScratch& scratch) {
      const BlockTargets targets = targets_of(place);
      const std::size_t number = blocks_[place.b].number;
      const float* total = join_->total(number);
      scratch.sums.resize(blocks_[place.b].lanes);
      std::copy_n(join_->norms(number, place.part) + samples.first, samples.count,
                  scratch.sums.data() + samples.first);
      softmax_join(targets, samples, key_.scale, total, out.out_t.data(), scratch.sums.data());
      weigh(targets, {0, out.count}, samples, blocks_[place.b].weights, out.out_t.data());
      if (network_.output().number_of(place.part) != 0) return;
      for (std::size_t s = samples.first; s < std::min(samples.end(), targets.samples); ++s) {
        if (targets.labels_of(s) > 0) out.losses[s] += targets.weight_of_sample(s) * total[s];
      }
    });
  }
  if (!at(last(), {0, 0}).sparse.in_use()) return;
  const auto neurons = [&](Place place) { return slices_of(at(last(), place).count, kSliceNeurons); };
  each_run(parts, neurons, [&](Place place, Slice run, ThreadScratch&) { sparsify(place, run); });
}

}  // namespace slide

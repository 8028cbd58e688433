#include "engine/layer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/activation.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {
constexpr std::size_t kRowsTogether = 16;  // of one block in an update: they share the loads of its inputs
constexpr std::size_t kPackedRows =
    256;  // rows packed at a time: 256 x 128 floats stay in the second-level cache
}  // namespace

Layer::Layer(const LayerConfig& config, std::size_t inputs, std::size_t neurons, bool output,
             OptimizerKind kind, std::span<const std::uint32_t> frequencies)
    : config_(config),
      output_(output),
      weights_(neurons, inputs, kind),
      bias_(neurons, 1, kind),
      sampler_(config, neurons, frequencies),
      identity_(std::max(neurons, kPackedRows)) {
  std::iota(identity_.begin(), identity_.end(), 0u);
}

void Layer::initialise(std::uint64_t seed, std::uint64_t item, int threads) {
  const double gain = output_ ? 1.0 : 2.0;  // He et al. 2015 for hidden layers
  weights_.fill_uniform(std::sqrt(gain / double(inputs())), seed, item, threads);
}

void Layer::rebuild_index(std::uint64_t seed, std::uint64_t generation, int threads) {
  if (!sampled() || config_.lsh == 0) return;
  if (!index_) index_ = std::make_unique<lsh::NeuronIndex>(config_.hash, size(), inputs(), seed);
  index_->rebuild(weights_.weights.data(), weights_.stride, generation, threads);
  for (auto& rows : touched_) rows.clear();
  std::fill(is_touched_.begin(), is_touched_.end(), std::uint8_t{0});
}

void Layer::rehash(int threads) {
  if (!index_) return;
  std::vector<std::uint32_t>& all = touched_.front();
  for (std::size_t s = 1; s < touched_.size(); ++s) {
    all.insert(all.end(), touched_[s].begin(), touched_[s].end());
    touched_[s].clear();
  }
  std::sort(all.begin(), all.end());  // shards depend on the thread count, tables must not
  index_->rehash(weights_.weights.data(), weights_.stride, all, threads);
  for (const std::uint32_t row : all) is_touched_[row] = 0;
  all.clear();
}

std::size_t Layer::active_limit(const BlockLimits& limits) const {
  if (!sampled()) return size();
  return std::min(size(), (output_ ? limits.label_entries : 0) + sampler_.drawn());
}

void Layer::reserve(LayerBlock& block, const BlockLimits& limits, std::uint32_t shards) const {
  const std::size_t active = active_limit(limits);
  block.count = active;
  block.out_t = AlignedArray<float>(active * limits.lanes);
  if (sampled()) {
    block.set.reserve(active, limits.label_entries, limits.lanes);
    block.bins.reserve(shards, active);
  } else if (output_) {
    block.set.reserve(0, limits.label_entries, limits.lanes);
  }
  if (output_) return;
  block.ldo = round_up(active, kernels::kLaneMultiple);
  block.out = AlignedArray<float>(block.ldo * limits.lanes);
  block.delta = AlignedArray<float>(block.ldo * limits.lanes);
  block.delta_t = AlignedArray<float>(active * limits.lanes);
  if (config_.dropout > 0) block.mask = AlignedArray<float>(block.ldo * limits.lanes);
}

LayerScratch Layer::make_scratch(const BlockLimits& limits) const {
  LayerScratch scratch;
  if (sampled()) scratch.sampler = sampler_.make_scratch(index_.get(), limits.lanes);
  scratch.shift.resize(active_limit(limits));
  if (limits.columns > 0) {
    scratch.packed_stride = round_up(limits.columns, kernels::kLaneMultiple);
    scratch.packed = AlignedArray<float>(kPackedRows * scratch.packed_stride);
    if (index_ && !limits.features) scratch.query = AlignedArray<float>(inputs() * limits.lanes);
  }
  return scratch;
}

UpdateScratch Layer::make_update_scratch(const BlockLimits& limits, std::size_t blocks) const {
  UpdateScratch scratch;
  scratch.gradient = AlignedArray<float>((kRowsTogether + 1) * weights_.stride);
  scratch.deltas.reserve(kRowsTogether);
  scratch.rows.reserve(kRowsTogether);
  scratch.sources.reserve(blocks);
  if (limits.columns > 0) scratch.packed.reserve(limits.columns);
  return scratch;
}

void Layer::prepare_updates(std::uint32_t shards, const BlockLimits& limits) {
  active_capacity_ = active_limit(limits);
  if (!sampled()) return;
  slots_.assign(size(), 0);
  if (!index_) return;
  is_touched_.assign(size(), 0);
  touched_.assign(shards, {});
  for (auto& rows : touched_) rows.reserve(size());
}

void Layer::select(const BlockInput& in, std::span<const SparseRow> sparse,
                   std::span<const std::span<const std::uint32_t>> labels, Rng rng, LayerScratch& scratch,
                   LayerBlock& block) const {
  block.all = !sampled();
  if (block.all) {
    block.count = size();
    if (output_) block.set.set_labels(labels);
    return;
  }
  ActiveQuery query;
  if (!in.partial) query.dense = {in.xt, in.width, in.lanes, in.samples};
  if (in.partial && !scratch.query.empty()) query.dense = spread(in, scratch);
  query.sparse = sparse;
  query.labels = labels;
  sampler_.select(query, index_.get(), rng, scratch.sampler, block.set);
  block.count = block.set.ids.size();
  if (in.partial && !scratch.query.empty()) {
    for (const std::uint32_t column : in.columns) {
      std::fill_n(scratch.query.data() + column * in.lanes, in.lanes, 0.0f);
    }
  }
}

// The active values of a sampled layer below as vectors over all its units; absent ones are zero.
lsh::QueryBlock Layer::spread(const BlockInput& in, LayerScratch& scratch) const {
  for (std::size_t i = 0; i < in.width; ++i) {
    std::copy_n(in.xt + i * in.lanes, in.lanes, scratch.query.data() + in.columns[i] * in.lanes);
  }
  return {scratch.query.data(), inputs(), in.lanes, in.samples};
}

// Copies the block's columns of `count` rows side by side.
std::size_t Layer::pack(const BlockInput& in, const std::uint32_t* ids, std::size_t count,
                        LayerScratch& scratch) const {
  for (std::size_t a = 0; a < count; ++a) {
    const float* row = weights_.row(ids[a]);
    float* to = scratch.packed.data() + a * scratch.packed_stride;
    for (std::size_t i = 0; i < in.width; ++i) to[i] = row[in.columns[i]];
  }
  return scratch.packed_stride;
}

void Layer::logits(const BlockInput& in, const std::uint32_t* ids, std::size_t count, LayerScratch& scratch,
                   float* z) const {
  const auto& k = kernels::active();
  if (!in.partial) {
    k.rows_forward(weights_.weights.data(), weights_.stride, ids, count, scratch.shift.data(), in.xt,
                   in.width, in.lanes, z);
    return;
  }
  for (std::size_t a = 0; a < count; a += kPackedRows) {
    const std::size_t rows = std::min(kPackedRows, count - a);
    const std::size_t stride = pack(in, ids + a, rows, scratch);
    k.rows_forward(scratch.packed.data(), stride, identity_.data(), rows, scratch.shift.data() + a, in.xt,
                   in.width, in.lanes, z + a * in.lanes);
  }
}

void Layer::forward(const BlockInput& in, bool corrected, LayerScratch& scratch, LayerBlock& block) const {
  const std::uint32_t* active = ids(block);
  corrected = corrected && !block.set.correction.empty();
  for (std::size_t a = 0; a < block.count; ++a) {
    scratch.shift[a] = *bias_.row(active[a]) + (corrected ? block.set.correction[a] : 0.0f);
  }
  logits(in, active, block.count, scratch, block.out_t.data());
  if (wide_) {
    wide_->forward(*in.features, {active, block.count}, in.lanes, block.out_t.data(), block.hits);
  }
  if (!output_) finish_hidden(in, block);
}

void Layer::score(const BlockInput& in, std::span<const std::uint32_t> active, LayerScratch& scratch,
                  float* z) const {
  if (scratch.shift.size() < active.size()) scratch.shift.resize(active.size());
  for (std::size_t a = 0; a < active.size(); ++a) scratch.shift[a] = *bias_.row(active[a]);
  logits(in, active.data(), active.size(), scratch, z);
  if (wide_) wide_->forward(*in.features, active, in.lanes, z, scratch.hits);
}

void Layer::forward_all(const BlockInput& in, LayerScratch& scratch, LayerBlock& block) const {
  block.set.ids.clear();
  block.all = true;
  block.count = size();
  score(in, all_neurons(), scratch, block.out_t.data());
  finish_hidden(in, block);
}

void Layer::finish_hidden(const BlockInput& in, LayerBlock& block) const {
  activation_forward(config_.activation, block.out_t.data(), block.count * in.lanes);
  kernels::active().transpose(block.out_t.data(), in.lanes, block.count, in.lanes, block.ldo,
                              block.out.data());
}

void Layer::backward_input(const BlockInput& in, const float* delta_t, LayerScratch& scratch,
                           const LayerBlock& block, float* dx, std::size_t ldx) const {
  const auto& k = kernels::active();
  const std::uint32_t* active = ids(block);
  std::fill_n(dx, in.lanes * ldx, 0.0f);
  if (!in.partial) {
    k.rows_backward_input(weights_.weights.data(), weights_.stride, active, block.count, delta_t, in.width,
                          in.lanes, dx, ldx);
    return;
  }
  for (std::size_t a = 0; a < block.count; a += kPackedRows) {
    const std::size_t rows = std::min(kPackedRows, block.count - a);
    const std::size_t stride = pack(in, active + a, rows, scratch);
    k.rows_backward_input(scratch.packed.data(), stride, identity_.data(), rows, delta_t + a * in.lanes,
                          in.width, in.lanes, dx, ldx);
  }
}

void Layer::backward_activation(std::size_t lanes, LayerBlock& block) const {
  backward_through_activation(config_, lanes, block, block.delta.data());
  kernels::active().transpose(block.delta.data(), block.ldo, lanes, block.count, lanes, block.delta_t.data());
}

void Layer::bin_touched(std::uint32_t block_index, LayerBlock& block) const {
  if (!sampled()) return;
  const auto base = static_cast<std::uint32_t>(block_index * active_capacity_);
  block.bins.fill([&](auto&& visit) {
    for (std::size_t a = 0; a < block.count; ++a) {
      visit(block.set.ids[a], base + static_cast<std::uint32_t>(a), 0.0f);
    }
  });
}

namespace {
float sum_lanes(const float* d, std::size_t samples) {
  float sum = 0.0f;
  for (std::size_t s = 0; s < samples; ++s) sum += d[s];
  return sum;
}
}  // namespace

// One row with contributions from any number of blocks. With whole-row inputs they add up to one gradient;
// where blocks bring different columns each block is an update of its own.
void Layer::update_row(const BatchView& batch, std::uint32_t row, std::span<const std::uint32_t> sources,
                       const Optimizer& optimizer, UpdateScratch& scratch) {
  const auto& k = kernels::active();
  float* g = scratch.gradient.data() + kRowsTogether * weights_.stride;
  float bias_gradient = 0.0f;
  std::fill_n(g, weights_.stride, 0.0f);
  const bool whole = !batch.inputs.front().partial;
  for (const std::uint32_t source : sources) {
    const BlockInput& in = batch.inputs[source / active_capacity_];
    const float* d = batch.deltas[source / active_capacity_] + source % active_capacity_ * in.lanes;
    bias_gradient += sum_lanes(d, in.samples);
    if (wide_) update_wide(batch, row, source, optimizer, scratch);
    k.rows_gradient(&d, 1, in.samples, in.x, in.ldx, in.width, g, weights_.stride);
    if (whole || in.width == 0) continue;
    optimizer.update_columns(weights_, row, in.columns, g, scratch.packed);
    std::fill_n(g, in.width, 0.0f);
  }
  if (whole) optimizer.update(weights_, row, g, true);
  optimizer.update(bias_, row, &bias_gradient, false);
}

void Layer::update_wide(const BatchView& batch, std::uint32_t row, std::uint32_t source,
                        const Optimizer& optimizer, UpdateScratch& scratch) {
  const std::size_t b = source / active_capacity_, at = source % active_capacity_;
  const BlockInput& in = batch.inputs[b];
  wide_->update(*in.features, *batch.hits[b], row, at, in.lanes, batch.deltas[b] + at * in.lanes,
                {optimizer.progress(), static_cast<float>(batch.samples)}, scratch.wide_gradients);
}

// Rows whose only contributions come from one block.
void Layer::update_together(const BlockInput& in, const Optimizer& optimizer, UpdateScratch& scratch) {
  float* g = scratch.gradient.data();
  const std::size_t rows = scratch.rows.size();
  std::fill_n(g, rows * weights_.stride, 0.0f);
  kernels::active().rows_gradient(scratch.deltas.data(), rows, in.samples, in.x, in.ldx, in.width, g,
                                  weights_.stride);
  for (std::size_t r = 0; r < rows; ++r) {
    const float bias_gradient = sum_lanes(scratch.deltas[r], in.samples);
    optimizer.update(weights_, scratch.rows[r], g + r * weights_.stride, true);
    optimizer.update(bias_, scratch.rows[r], &bias_gradient, false);
  }
  scratch.rows.clear();
  scratch.deltas.clear();
}

void Layer::prefetch(std::uint32_t row) const {
  const float* w = weights_.row(row);
  for (std::size_t c = 0; c < inputs(); c += kernels::kLaneMultiple) __builtin_prefetch(w + c, 1);
}

void Layer::mark_touched(std::uint32_t row, std::uint32_t shard) {
  if (is_touched_.empty() || is_touched_[row]) return;
  is_touched_[row] = 1;
  touched_[shard].push_back(row);
}

void Layer::update(const BatchView& batch, const RowGroups& groups, std::uint32_t shard, std::uint32_t shards,
                   const Optimizer& optimizer, UpdateScratch& scratch) {
  if (!sampled()) {
    update_dense(batch, shard, shards, optimizer, scratch);
    return;
  }
  const bool whole = !batch.inputs.front().partial;
  std::size_t gathered = 0;  // the block whose rows are in scratch.rows
  const auto flush = [&] {
    if (!scratch.rows.empty()) update_together(batch.inputs[gathered], optimizer, scratch);
  };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto sources = groups.sources(i);
    const std::uint32_t row = groups.row(i);
    prefetch(row);
    mark_touched(row, shard);
    if (!whole || sources.size() > 1) {
      update_row(batch, row, sources, optimizer, scratch);
      continue;
    }
    if (wide_) update_wide(batch, row, sources[0], optimizer, scratch);
    const std::size_t block = sources[0] / active_capacity_;
    if (block != gathered || scratch.rows.size() == kRowsTogether) flush();
    gathered = block;
    scratch.rows.push_back(row);
    scratch.deltas.push_back(batch.deltas[block] + sources[0] % active_capacity_ * batch.inputs[block].lanes);
  }
  flush();
}

void Layer::update_dense(const BatchView& batch, std::uint32_t shard, std::uint32_t shards,
                         const Optimizer& optimizer, UpdateScratch& scratch) {
  const std::size_t begin = size() * shard / shards, end = size() * (shard + 1) / shards;
  auto& sources = scratch.sources;
  sources.resize(batch.inputs.size());
  for (std::size_t row = begin; row < end; ++row) {
    for (std::size_t b = 0; b < batch.inputs.size(); ++b) {
      sources[b] = static_cast<std::uint32_t>(b * active_capacity_ + row);
    }
    update_row(batch, static_cast<std::uint32_t>(row), sources, optimizer, scratch);
  }
}

}  // namespace slide

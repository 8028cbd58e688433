// Phase B of a step: gradients and updates of a layer's rows, by the shard that owns them.
#include <algorithm>

#include "engine/kernels/kernels.h"
#include "engine/network/layer.h"

namespace slide {

namespace {
// Prefetches beyond what a core can have under way are dropped, so these are asked for shortly before, a few
// at a time.
constexpr std::size_t kStateAhead = 8;     // rows whose optimizer state is asked for ahead
constexpr std::size_t kWideAhead = 3;      // and whose wide weights are
constexpr std::size_t kRowsTogether = 32;  // those of one block share the loads of its inputs
}  // namespace

UpdateScratch Layer::make_update_scratch(const BlockLimits& limits, std::size_t blocks) const {
  UpdateScratch scratch;
  scratch.stride = kernels::spread_stride(inputs());
  scratch.gradient = AlignedArray<float>(kRowsTogether * scratch.stride);
  scratch.bias_gradient.resize(kRowsTogether);
  scratch.parts.reserve(kRowsTogether * blocks);
  scratch.ends.resize(blocks + 1);
  scratch.deltas.resize(kRowsTogether * blocks);
  scratch.gradients.resize(kRowsTogether * blocks);
  scratch.sources.reserve(blocks);
  scratch.packed.reserve(limits.columns > 0 ? limits.columns : weights_.half() ? inputs() : 0);
  return scratch;
}

void Layer::prepare_updates(std::uint32_t shards, const BlockLimits& limits) {
  active_capacity_ = active_limit(limits);
  if (!sampled()) return;
  slots_ = AlignedArray<std::uint64_t>(size());
  if (index_) stale_.prepare(size(), shards);
}

// One row whose blocks bring different columns: each block is an update of its own. Without any, the row
// stays.
void Layer::update_columns(const BatchView& batch, std::uint32_t row, std::span<const std::uint32_t> sources,
                           const Optimizer& optimizer, UpdateScratch& scratch) {
  if (sources.empty()) return;
  const auto& k = kernels::active();
  float* g = scratch.gradient.data();
  float bias_gradient = 0.0f;
  for (const std::uint32_t source : sources) {
    const BlockInput& in = batch.inputs[source / active_capacity_];
    const float* d = batch.deltas[source / active_capacity_] + source % active_capacity_ * in.lanes;
    bias_gradient += k.sum(d, in.samples);
    if (wide_) update_wide(batch, row, source, optimizer, scratch);
    if (in.width == 0) continue;
    std::fill_n(g, in.width, 0.0f);
    k.rows_gradient(&d, 1, in.samples, in.x, in.ldx, in.width, &g);
    optimizer.update_columns(weights_, row, in.columns, g, scratch.packed);
  }
  optimizer.update(bias_, row, &bias_gradient, false, scratch.packed);
}

void Layer::update_wide(const BatchView& batch, std::uint32_t row, std::uint32_t source,
                        const Optimizer& optimizer, UpdateScratch& scratch) {
  const std::size_t b = source / active_capacity_, at = source % active_capacity_;
  const BlockInput& in = batch.inputs[b];
  const LayerBlock& block = *batch.blocks[b];
  const std::span<const std::uint32_t> none,
      listed = block.sparse.in_use() ? block.sparse.samples_of(at) : none;
  wide_->update(*in.features, block.hits, row, at, in.lanes, batch.deltas[b] + at * in.lanes, listed,
                {optimizer.progress(), static_cast<float>(batch.samples)}, scratch.wide_gradients);
}

// scratch.gradient and bias_gradient of `rows` rows from the blocks in sources_of(i), ascending. The blocks
// are taken one after the other, so that the rows of a block share the loads of its inputs.
template <class SourcesOf>
void Layer::sum_gradients(const BatchView& batch, std::size_t rows, SourcesOf&& sources_of,
                          UpdateScratch& scratch) const {
  const auto& k = kernels::active();
  const std::size_t blocks = batch.inputs.size();
  scratch.parts.clear();
  std::fill_n(scratch.ends.begin(), blocks + 1, 0u);
  for (std::size_t i = 0; i < rows; ++i) {
    for (const std::uint32_t source : sources_of(i)) {
      const auto block = static_cast<std::uint32_t>(source / active_capacity_);
      const BlockInput& in = batch.inputs[block];
      const float* d = batch.deltas[block] + source % active_capacity_ * in.lanes;
      scratch.bias_gradient[i] += k.sum(d, in.samples);
      scratch.parts.push_back({d, block, static_cast<std::uint32_t>(i)});
      ++scratch.ends[block + 1];
    }
  }
  for (std::size_t b = 0; b < blocks; ++b) scratch.ends[b + 1] += scratch.ends[b];
  for (const UpdateScratch::Part& part :
       scratch.parts) {  // ends[b] moves from the start of block b to its end
    const std::uint32_t at = scratch.ends[part.block]++;
    scratch.deltas[at] = part.delta;
    scratch.gradients[at] = scratch.gradient.data() + part.row * scratch.stride;
  }
  for (std::size_t b = 0, begin = 0; b < blocks; begin = scratch.ends[b++]) {
    const std::size_t count = scratch.ends[b] - begin;
    if (count == 0) continue;
    const BlockInput& in = batch.inputs[b];
    k.rows_gradient(scratch.deltas.data() + begin, count, in.samples, in.x, in.ldx, in.width,
                    scratch.gradients.data() + begin);
  }
}

// The same from the listed deltas.
template <class SourcesOf>
void Layer::sum_sparse_gradients(const BatchView& batch, std::size_t rows, SourcesOf&& sources_of,
                                 UpdateScratch& scratch) const {
  const auto& k = kernels::active();
  for (std::size_t i = 0; i < rows; ++i) {
    for (const std::uint32_t source : sources_of(i)) {
      const BlockInput& in = batch.inputs[source / active_capacity_];
      const SparseDeltas& deltas = batch.blocks[source / active_capacity_]->sparse;
      const std::span<const std::uint32_t> samples = deltas.samples_of(source % active_capacity_);
      const float* values = deltas.values_of(source % active_capacity_);
      scratch.bias_gradient[i] += k.sum(values, samples.size());
      k.gather_rows(in.x, in.ldx, samples.data(), values, samples.size(), in.width,
                    scratch.gradient.data() + i * scratch.stride);
    }
  }
}

// Up to kRowsTogether whole rows; row i has contributions from the blocks in sources_of(i). One without any
// stays as it is.
template <class SourcesOf>
void Layer::update_rows(const BatchView& batch, std::span<const std::uint32_t> rows, SourcesOf&& sources_of,
                        const Optimizer& optimizer, UpdateScratch& scratch) {
  const auto prefetch_state = [&](std::uint32_t row) {
    weights_.prefetch_state(row);
    bias_.prefetch_state(row);
  };
  for (const std::uint32_t row : rows.first(std::min(rows.size(), kStateAhead))) prefetch_state(row);
  for (std::size_t i = 0; wide_ && i < std::min(rows.size(), kWideAhead); ++i) wide_->prefetch(rows[i], true);
  std::fill_n(scratch.gradient.data(), rows.size() * scratch.stride, 0.0f);
  std::fill_n(scratch.bias_gradient.data(), rows.size(), 0.0f);
  if (batch.blocks.front()->sparse.in_use()) {
    sum_sparse_gradients(batch, rows.size(), sources_of, scratch);
  } else {
    sum_gradients(batch, rows.size(), sources_of, scratch);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kStateAhead < rows.size()) prefetch_state(rows[i + kStateAhead]);
    if (wide_ && i + kWideAhead < rows.size()) wide_->prefetch(rows[i + kWideAhead], true);
    const std::span<const std::uint32_t> sources = sources_of(i);
    if (sources.empty()) continue;
    for (const std::uint32_t source : sources) {
      if (wide_) update_wide(batch, rows[i], source, optimizer, scratch);
    }
    optimizer.update(weights_, rows[i], scratch.gradient.data() + i * scratch.stride, true, scratch.packed);
    optimizer.update(bias_, rows[i], &scratch.bias_gradient[i], false, scratch.packed);
  }
}

void Layer::update(const BatchView& batch, const RowGroups& groups, std::uint32_t shard, std::uint32_t shards,
                   const Optimizer& optimizer, UpdateScratch& scratch) {
  if (!sampled()) {
    update_dense(batch, shard, shards, optimizer, scratch);
    return;
  }
  const bool whole = !batch.inputs.front().partial;
  const auto rows_at = [&](std::size_t first) {
    return groups.rows().subspan(first, std::min(kRowsTogether, groups.size() - first));
  };
  const auto ask_for = [&](std::span<const std::uint32_t> rows) {
    for (const std::uint32_t row : rows) {
      weights_.prefetch_row(row);
      bias_.prefetch_row(row);
    }
  };
  if (groups.size() > 0) ask_for(rows_at(0));
  for (std::size_t first = 0; first < groups.size(); first += kRowsTogether) {
    const auto rows = rows_at(first);
    if (first + kRowsTogether < groups.size()) ask_for(rows_at(first + kRowsTogether));
    for (std::size_t i = 0; index_ && i < rows.size(); ++i) stale_.add(rows[i], shard);
    if (whole) {
      update_rows(
          batch, rows, [&](std::size_t i) { return groups.sources(first + i); }, optimizer, scratch);
      continue;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      update_columns(batch, rows[i], groups.sources(first + i), optimizer, scratch);
    }
  }
}

void Layer::update_dense(const BatchView& batch, std::uint32_t shard, std::uint32_t shards,
                         const Optimizer& optimizer, UpdateScratch& scratch) {
  const std::size_t begin = size() * shard / shards, end = size() * (shard + 1) / shards;
  const bool whole = !batch.inputs.front().partial;
  const auto sources_of = [&](std::size_t row) -> std::span<const std::uint32_t> {
    scratch.sources.clear();
    for (std::size_t b = 0; b < batch.inputs.size(); ++b) {
      if (batch.blocks[b]->sparse.leaves_out(row)) continue;
      scratch.sources.push_back(static_cast<std::uint32_t>(b * active_capacity_ + row));
    }
    return scratch.sources;
  };
  for (std::size_t first = begin; first < end; first += kRowsTogether) {
    const auto rows = all_neurons().subspan(first, std::min(kRowsTogether, end - first));
    if (whole) {
      update_rows(
          batch, rows, [&](std::size_t i) { return sources_of(first + i); }, optimizer, scratch);
      continue;
    }
    for (const std::uint32_t row : rows) update_columns(batch, row, sources_of(row), optimizer, scratch);
  }
}

}  // namespace slide

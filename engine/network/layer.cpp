#include "engine/network/layer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/parallel.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "engine/network/activation.h"

namespace slide {

namespace {

static_assert(kSliceColumns % kernels::kPairGroup == 0);
static_assert(kSliceNeurons % kernels::kLaneMultiple == 0 && kSliceSamples % kernels::kLaneMultiple == 0);

constexpr std::size_t kPackedRows = 256;  // rows packed per call: 256 x 128 floats fit in the L2 cache

}  // namespace

Layer::Layer(const LayerShape& shape, std::span<const std::uint32_t> frequencies, std::size_t first)
    : shape_(shape),
      weights_(shape.neurons, shape.inputs, shape.precision),
      bias_(shape.neurons, 1),
      identity_(std::max(shape.neurons, kPackedRows)) {
  weights_.first = bias_.first = first;
  std::iota(identity_.begin(), identity_.end(), 0u);
  for (const LayerPart& part : shape.parts) {
    const auto [begin, count] = part.neurons;
    const auto own = frequencies.empty() ? frequencies : frequencies.subspan(begin, count);
    parts_.push_back({ActiveSampler(part_config(shape.config, part), count, own, first + begin), nullptr});
  }
}

void Layer::initialise(std::uint64_t seed, std::uint64_t item, int threads) {
  const double gain = shape_.output ? 1.0 : 2.0;  // He et al. 2015 for hidden layers
  const double scale = shape_.config.init_scale * std::sqrt(gain / double(inputs()));
  // First touch by NUMA node: a thread updates consecutive rows of a dense layer, any rows of a sampled one.
  const auto ends = sampled() ? std::vector<std::size_t>() : even_ends(size(), threads);
  weights_.fill_uniform(scale, seed, item, threads, ends);
}

lsh::WeightRows Layer::weight_rows(std::size_t first) const {
  const float* bias = bias_.row(first);
  if (weights_.is_int8()) return {nullptr, weights_.byte_stride, nullptr, weights_.int8_rows(first), bias};
  if (weights_.is_bf16()) return {nullptr, weights_.pair_stride, weights_.pair_row(first), {}, bias};
  return {weights_.row(first), weights_.stride, nullptr, {}, bias};
}

// Creates the index of a part at the first call; the parts share working memory.
void Layer::rebuild_index(std::uint64_t seed, std::uint64_t generation, int threads) {
  if (!shape_.has_tables()) return;
  for (std::size_t p = 0; p < parts(); ++p) {
    std::unique_ptr<lsh::NeuronIndex>& index = parts_[p].index;
    if (!index) {
      index = std::make_unique<lsh::NeuronIndex>(shape_.config.hash, neurons(p).count, inputs(), seed);
      if (p > 0) index->share_memory(*this->index(0));
    }
    index->rebuild(weight_rows(neurons(p).first), generation, threads);
  }
}

void Layer::rehash(std::size_t part, std::span<const std::uint32_t> rows, int threads) {
  if (index(part) != nullptr) index(part)->rehash(weight_rows(neurons(part).first), rows, threads);
}

double Layer::bytes_of(const LayerShape& shape) {
  const bool draws = shape.config.frequency > 0 && shape.output;
  return double(std::max(shape.neurons, kPackedRows)) * sizeof(std::uint32_t) +
         (draws ? double(AliasTable::bytes_of(shape.neurons)) : 0.0);
}

// Memory of reserve(), array by array: change both together.
double Layer::block_bytes_of(const LayerShape& shape, const BlockLimits& limits, std::uint32_t shards) {
  const std::size_t active = shape.active_limit(limits), lanes = limits.lanes;
  double bytes = double(active * lanes) * sizeof(float);
  if (limits.sparse_deltas) bytes += double(SparseDeltas::bytes_of(active, lanes));
  if (shape.sampled() || shape.output)
    bytes += double(ActiveSet::bytes_of(shape.sampled() ? active : 0, limits.label_entries, lanes));
  if (shape.sampled()) bytes += double(RowBins::bytes_of(shards, active));
  if (limits.masks) {
    bytes += double(ActiveSet::bytes_of(0, limits.label_entries, lanes)) +
             double(TargetPlaces::bytes_of(active, limits.label_entries));
  }
  const double slices = double(slices_of(active, kSliceNeurons));
  if (shape.config.wide) bytes += slices * sizeof(TermHits);
  if (shape.output)
    return bytes + std::max(slices, double(lanes)) * sizeof(double) +
           double(TargetPlaces::bytes_of(active, limits.label_entries));
  const double arrays = shape.config.dropout > 0 ? 3 : 2;  // out, delta, mask
  return bytes +
         (arrays * double(kernels::spread_stride(active)) + double(active)) * double(lanes) * sizeof(float);
}

// Memory of make_scratch(): change both together.
double Layer::scratch_bytes_of(const LayerShape& shape, const BlockLimits& limits, Use use) {
  const bool partial = limits.columns > 0;
  double bytes = 0.0;
  if (use != Use::kPasses) {
    if (shape.sampled())
      bytes +=
          ActiveSampler::scratch_bytes_of(shape.config, shape.largest_part(), shape.inputs, limits.lanes);
    if (partial && shape.has_tables() && !limits.features)
      bytes += double(shape.inputs * limits.lanes) * sizeof(float);
  }
  if (use == Use::kSelect) return bytes;
  bytes += double(shape.active_limit(limits)) * sizeof(float);
  if (partial || shape.precision == Precision::kBf16)
    bytes +=
        double(kPackedRows * kernels::spread_stride(partial ? limits.columns : shape.inputs)) * sizeof(float);
  return bytes;
}

// Output layer: targets and losses. Hidden layer: activations and deltas in both layouts, dropout factors.
void Layer::reserve(LayerBlock& block, const BlockLimits& limits, std::uint32_t shards) const {
  const std::size_t active = active_limit(limits);
  block.count = active;
  block.out_t = AlignedArray<float>(active * limits.lanes);
  if (limits.sparse_deltas) block.sparse.reserve(active, limits.lanes);
  if (sampled()) {
    block.set.reserve(active, limits.label_entries, limits.lanes);
    block.bins.reserve(shards, active);
  } else if (shape_.output) {
    block.set.reserve(0, limits.label_entries, limits.lanes);
  }
  if (term_) block.hits.resize(slices_of(active, kSliceNeurons));
  if (limits.masks) {
    block.set.reserve_masked(limits.label_entries, limits.lanes);
    block.masked.reserve(active, limits.label_entries);
  }
  if (shape_.output) {
    block.losses.resize(std::max(slices_of(active, kSliceNeurons), limits.lanes));
    block.targets.reserve(active, limits.label_entries);
    return;
  }
  block.ldo = kernels::spread_stride(active);
  block.out = AlignedArray<float>(block.ldo * limits.lanes);
  block.delta = AlignedArray<float>(block.ldo * limits.lanes);
  block.delta_t = AlignedArray<float>(active * limits.lanes);
  if (shape_.config.dropout > 0) block.mask = AlignedArray<float>(block.ldo * limits.lanes);
}

// Memory for select(), for the passes, or for both.
LayerScratch Layer::make_scratch(const BlockLimits& limits, Use use) const {
  LayerScratch scratch;
  const bool partial = limits.columns > 0;
  if (use != Use::kPasses) {
    if (sampled()) {  // the scratch of the largest part serves all parts
      const auto largest = std::ranges::max_element(parts_, {}, [&](const Part& part) {
        return neurons(static_cast<std::size_t>(&part - parts_.data())).count;
      });
      scratch.sampler = largest->sampler.make_scratch(largest->index.get(), limits.lanes);
    }
    if (partial && index() != nullptr && !limits.features)
      scratch.query = AlignedArray<float>(inputs() * limits.lanes);
  }
  if (use == Use::kSelect) return scratch;
  scratch.shift.resize(active_limit(limits));
  if (weights_.is_int8()) {
    scratch.pairs = AlignedArray<std::uint32_t>(kPackedRows * weights_.byte_stride / 2);
    scratch.rounded = AlignedArray<float>(weights_.byte_stride);
  }
  if (partial || weights_.is_bf16()) {
    scratch.packed_stride = kernels::spread_stride(partial ? limits.columns : inputs());
    scratch.packed = AlignedArray<float>(kPackedRows * scratch.packed_stride);
  }
  return scratch;
}

// A dense layer needs only the positions of labels and masked neurons. A sampled layer asks its part's
// sampler, which numbers neurons from the part's first. A partial input is spread over all units for the
// hash functions, and cleared at the end.
void Layer::select(std::size_t part, const BlockInput& in, const Query& query, Rng rng, LayerScratch& scratch,
                   LayerBlock& block) const {
  const Slice own = neurons(part);
  block.all = !sampled();
  if (block.all) {
    block.first = own.first;
    block.count = own.count;
    if (shape_.output) block.set.set_labels(query.labels, weights_.first + own.first, own.count);
    if (!query.masked.empty()) block.set.set_masked(query.masked, weights_.first + own.first, own.count);
    return;
  }
  ActiveQuery active;
  if (!in.partial) active.dense = {in.xt, in.width, in.lanes, in.samples};
  if (in.partial && !scratch.query.empty()) active.dense = spread(in, scratch);
  if (index(part) != nullptr) active.dense.rows = weight_rows(own.first);
  active.sparse = query.sparse;
  active.labels = query.labels;
  active.masked = query.masked;
  parts_[part].sampler.select(active, index(part), rng, scratch.sampler, block.set);
  for (std::uint32_t& id : block.set.ids) id += static_cast<std::uint32_t>(own.first);
  block.count = block.set.ids.size();
  if (in.partial && !scratch.query.empty()) {
    for (const std::uint32_t column : in.columns) {
      std::fill_n(scratch.query.data() + column * in.lanes, in.lanes, 0.0f);
    }
  }
}

// Returns the input as dense vectors over all units of the layer below; inactive units are 0. Expects
// scratch.query to be all 0; the caller clears it after use.
lsh::QueryBlock Layer::spread(const BlockInput& in, LayerScratch& scratch) const {
  for (std::size_t i = 0; i < in.width; ++i) {
    std::copy_n(in.xt + i * in.lanes, in.lanes, scratch.query.data() + in.columns[i] * in.lanes);
  }
  return {scratch.query.data(), inputs(), in.lanes, in.samples};
}

// scratch.packed [count x packed_stride] = the weights of rows `ids` for the input units `units`, in fp32.
// units.first is a multiple of kPairGroup (bf16.h).
void Layer::pack(const BlockInput& in, Slice units, const std::uint32_t* ids, std::size_t count,
                 LayerScratch& scratch) const {
  const std::span<const std::uint32_t> columns =
      in.partial ? in.columns.subspan(units.first, units.count) : std::span<const std::uint32_t>();
  constexpr std::size_t kAhead = 8;
  const auto& k = kernels::active();
  for (std::size_t a = 0; a < count; ++a) {
    float* to = scratch.packed.data() + a * scratch.packed_stride;
    if (a + kAhead < count) weights_.prefetch_row(ids[a + kAhead]);
    if (weights_.is_int8()) {
      const kernels::Int8Rows rows = weights_.int8_rows(ids[a]);
      const float factor = kernels::int8_factor(*rows.exponents);
      for (std::size_t i = 0; i < columns.size(); ++i)
        to[i] = factor * static_cast<float>(rows.q[columns[i]]);
    } else if (!in.partial) {
      k.widen(weights_.pair_row(ids[a]) + units.first / 2, units.count, to);
    } else if (weights_.is_bf16()) {
      const std::uint32_t* row = weights_.pair_row(ids[a]);
      for (std::size_t i = 0; i < columns.size(); ++i) to[i] = kernels::pair_value(row, columns[i]);
    } else {
      const float* row = weights_.row(ids[a]);
      for (std::size_t i = 0; i < columns.size(); ++i) to[i] = row[columns[i]];
    }
  }
}

// Whole inputs: a kernel for the format of the weights. Partial inputs: packs the active columns of a few
// rows at a time, in fp32.
void Layer::logits(const BlockInput& in, std::span<const std::uint32_t> active, LayerScratch& scratch,
                   float* z) const {
  const auto& k = kernels::active();
  const float* shift = scratch.shift.data();
  if (!in.partial && weights_.is_int8()) return logits_int8(in, active, scratch, z);
  if (!in.partial && weights_.is_bf16()) {
    k.rows_forward_bf16(weights_.pairs.data(), weights_.pair_stride, active.data(), active.size(), shift,
                        in.xt, in.width, in.lanes, z);
    return;
  }
  if (!in.partial) {
    k.rows_forward(weights_.weights.data(), weights_.stride, active.data(), active.size(), shift, in.xt,
                   in.width, in.lanes, z);
    return;
  }
  for (std::size_t a = 0; a < active.size(); a += kPackedRows) {
    const std::size_t rows = std::min(kPackedRows, active.size() - a);
    pack(in, {0, in.width}, active.data() + a, rows, scratch);
    k.rows_forward(scratch.packed.data(), scratch.packed_stride, identity_.data(), rows, shift + a, in.xt,
                   in.width, in.lanes, z + a * in.lanes);
  }
}

// Many samples: converts kPackedRows rows at a time to bfloat16. A single sample: multiplies the bytes
// directly, because reading them from memory takes most of the time.
void Layer::logits_int8(const BlockInput& in, std::span<const std::uint32_t> ids, LayerScratch& scratch,
                        float* z) const {
  const auto& k = kernels::active();
  const kernels::Int8Rows rows = weights_.int8_rows();
  const float* shift = scratch.shift.data();
  if (in.lanes == 1) {
    std::transform(in.xt, in.xt + in.width, scratch.rounded.data(), kernels::nearest_bf16);
    std::copy_n(shift, ids.size(), z);
    return k.add_dots_int8(rows, ids.data(), ids.size(), scratch.rounded.data(), rows.stride, z);
  }
  const std::size_t stride = rows.stride / 2;
  for (std::size_t a = 0; a < ids.size(); a += kPackedRows) {
    const std::size_t count = std::min(kPackedRows, ids.size() - a);
    for (std::size_t i = 0; i < count; ++i)
      k.pair_int8(rows, ids[a + i], weights_.columns, scratch.pairs.data() + i * stride);
    k.rows_forward_bf16(scratch.pairs.data(), stride, identity_.data(), count, shift + a, in.xt, in.width,
                        in.lanes, z + a * in.lanes);
  }
}

// Logits of all slices at once; the term slice by slice, as block.hits is kept by slice for the update.
void Layer::forward(const BlockInput& in, Slice slices, LayerScratch& scratch, LayerBlock& block) const {
  const Slice neurons = covered(slices, block.count, kSliceNeurons);
  const std::span<const std::uint32_t> active(ids(block) + neurons.first, neurons.count);
  const bool corrected = shape_.output && !block.set.correction.empty();
  for (std::size_t i = 0; i < neurons.count; ++i) {
    scratch.shift[i] = *bias_.row(active[i]) + (corrected ? block.set.correction[neurons.first + i] : 0.0f);
  }
  float* z = block.out_t.data() + neurons.first * in.lanes;
  logits(in, active, scratch, z);
  for (std::size_t i = slices.first; term_ && i < slices.end(); ++i) {
    const Slice some = slice_of(i, block.count, kSliceNeurons);
    term_->forward(*in.features, active.subspan(some.first - neurons.first, some.count), in.lanes,
                   block.out_t.data() + some.first * in.lanes, block.hits[i], scratch.term);
  }
  if (!shape_.output) finish_hidden(in, neurons, block);
}

void Layer::score(std::span<const BlockInput> blocks, std::span<const std::uint32_t> active,
                  LayerScratch& scratch, float* z) const {
  if (scratch.shift.size() < active.size()) scratch.shift.resize(active.size());
  for (std::size_t a = 0; a < active.size(); ++a) scratch.shift[a] = *bias_.row(active[a]);
  for (const BlockInput& in : blocks) {
    logits(in, active, scratch, z);
    if (term_ && in.features != nullptr)
      term_->forward(*in.features, active, in.lanes, z, scratch.hits, scratch.term);
    z += active.size() * in.lanes;
  }
}

void Layer::forward_all(const BlockInput& in, LayerScratch& scratch, LayerBlock& block) const {
  block.set.ids.clear();
  block.all = true;
  block.count = size();
  score({&in, 1}, all_neurons(), scratch, block.out_t.data());
  finish_hidden(in, {0, block.count}, block);
}

void Layer::finish_hidden(const BlockInput& in, Slice neurons, LayerBlock& block) const {
  float* z = block.out_t.data() + neurons.first * in.lanes;
  activation_forward(shape_.config.activation, z, neurons.count * in.lanes);
  kernels::active().transpose(z, in.lanes, neurons.count, in.lanes, block.ldo,
                              block.out.data() + neurons.first);
}

// backward_input() from the gradients that block.sparse lists.
void Layer::backward_listed(const BlockInput& in, const SliceCell& cell, LayerScratch& scratch,
                            const LayerBlock& block, float* dx, std::size_t ldx) const {
  const auto& k = kernels::active();
  const std::uint32_t* active = ids(block);
  const bool direct = !in.partial && !weights_.is_bf16();
  const auto end = static_cast<std::uint32_t>(cell.samples.end());
  for (std::size_t a = 0; a < block.count; ++a) {
    const std::span<const std::uint32_t> samples = block.sparse.samples_of(a);
    std::size_t first = 0;
    while (first < samples.size() && samples[first] < cell.samples.first) ++first;
    if (first == samples.size() || samples[first] >= end) continue;
    if (!direct) pack(in, cell.units, active + a, 1, scratch);
    k.scatter_rows(samples.data() + first, block.sparse.values_of(a) + first, samples.size() - first, end,
                   direct ? weights_.row(active[a]) + cell.units.first : scratch.packed.data(),
                   cell.units.count, dx, ldx);
  }
}

// fp32 rows are multiplied in place; bfloat16 or partial rows are packed first, kPackedRows at a time.
void Layer::backward_input(const BlockInput& in, const SliceCell& cell, const float* delta_t,
                           LayerScratch& scratch, const LayerBlock& block, float* dx, std::size_t ldx) const {
  const Slice units = cell.units;
  const auto& k = kernels::active();
  const std::uint32_t* active = ids(block);
  const bool direct = !in.partial && !weights_.is_bf16();
  dx += units.first;
  for (std::size_t s = cell.samples.first; s < cell.samples.end(); ++s)
    std::fill_n(dx + s * ldx, units.count, 0.0f);
  if (block.sparse.in_use()) return backward_listed(in, cell, scratch, block, dx, ldx);
  if (direct) {
    k.rows_backward_input(weights_.weights.data() + units.first, weights_.stride, active, block.count,
                          delta_t, units.count, in.lanes, dx, ldx);
    return;
  }
  for (std::size_t a = 0; a < block.count; a += kPackedRows) {
    const std::size_t rows = std::min(kPackedRows, block.count - a);
    pack(in, units, active + a, rows, scratch);
    k.rows_backward_input(scratch.packed.data(), scratch.packed_stride, identity_.data(), rows,
                          delta_t + a * in.lanes, units.count, in.lanes, dx, ldx);
  }
}

void Layer::backward_activation(std::size_t lanes, const SliceCell& cell, LayerBlock& block) const {
  backward_through_activation(shape_.config, cell, block, block.delta.data());
  const auto [neurons, samples] = cell;
  kernels::active().transpose(block.delta.data() + samples.first * block.ldo + neurons.first, block.ldo,
                              samples.count, neurons.count, lanes,
                              block.delta_t.data() + neurons.first * lanes + samples.first);
}

}  // namespace slide

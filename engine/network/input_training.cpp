#include "engine/network/input_training.h"

#include <algorithm>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {
constexpr std::size_t kInputRowsTogether = 32;  // of dense features: they share the loads of a batch's deltas
}  // namespace

InputTraining::InputTraining(const InputLayer& layer, const Dataset& train, std::size_t samples,
                             std::uint32_t shards)
    : ldo_(layer.ldo()),
      dense_(layer.dense_rows()),
      shards_(train, {layer.weights().first, layer.features()}, dense_, samples, shards),
      deltas_(samples * ldo_),
      slots_(layer.features()) {}

void InputTraining::backward(const InputLayer& layer, const SliceCell& cell, const Block& block) {
  backward_through_activation(layer.config(), cell, block.input, delta(block.first_sample()));
}

// For `samples` samples; kInputRowsTogether gradients if there are dense features, else one.
InputTraining::Scratch InputTraining::make_scratch(const InputLayer& layer, std::size_t samples) const {
  Scratch scratch;
  scratch.parts.reserve(samples);
  const std::size_t together = layer.dense() > 0 ? kInputRowsTogether : 1;
  scratch.gradient = AlignedArray<float>(together * layer.weights().stride);
  scratch.dense.resize(together);
  scratch.gradients.resize(together);
  if (layer.weights().is_bf16()) scratch.packed.reserve(layer.size());
  return scratch;
}

double InputTraining::bytes_of(std::size_t size, std::size_t features, std::size_t samples) {
  return double(samples * kernels::spread_stride(size)) * sizeof(float) +
         double(features) * sizeof(std::uint64_t);
}

double InputTraining::scratch_bytes_of(std::size_t size, Precision precision, std::size_t samples,
                                       std::size_t dense) {
  const std::size_t together = dense > 0 ? kInputRowsTogether : 1;
  return double(samples) * sizeof(SamplePart) +
         double(together * (Parameters::stride_of(size) * sizeof(float) + 2 * sizeof(float*))) +
         (precision == Precision::kBf16 ? double(PackedRow::bytes_of(size)) : 0.0);
}

// The gradient of a feature's row is the sum of value * delta over its samples, deltas_ [samples x ldo].
// Dense features follow, and the bias in shard 0.
void InputTraining::update(const TrainedInput& trained, const Batch& batch, std::uint32_t shard,
                           const Optimizer& optimizer, RowGroups& groups, Scratch& scratch) {
  constexpr std::size_t kAhead = 12;
  const auto& k = kernels::active();
  const std::size_t size = trained.weights.values.columns;
  float* g = scratch.gradient.data();
  scratch.parts.clear();
  for (const Block& block : batch.blocks)
    block.features_by_shard.list(shard, block.samples(), block.first_sample(), scratch.parts);
  groups.build(scratch.parts, slots_.data(), batch.stamp);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i + kAhead < groups.size()) {
      trained.weights.values.prefetch_row(groups.row(i + kAhead));
      trained.weights.state.prefetch_row(groups.row(i + kAhead));
    }
    std::fill_n(g, size, 0.0f);
    k.gather_rows(deltas_.data(), ldo_, groups.sources(i).data(), groups.values(i), groups.sources(i).size(),
                  size, g);
    optimizer.update(trained.weights, groups.row(i), g, true, scratch.packed);
  }
  if (dense_.count > 0) update_dense(trained, batch, shard, optimizer, scratch);
  if (shard != 0) return;
  std::fill_n(g, size, 0.0f);
  for (std::size_t s = 0; s < batch.samples; ++s) k.axpy(1.0f, deltas_.data() + s * ldo_, size, g);
  optimizer.update(trained.bias, 0, g, false, scratch.packed);
}

// The rows of dense features that a shard owns: every sample adds to all of them.
void InputTraining::update_dense(const TrainedInput& trained, const Batch& batch, std::uint32_t shard,
                                 const Optimizer& optimizer, Scratch& scratch) const {
  const std::size_t size = trained.weights.values.columns, stride = trained.weights.values.stride;
  const std::size_t begin = std::max<std::size_t>(shards_.first(shard), dense_.first);
  const std::size_t end = std::min<std::size_t>(shards_.end(shard), dense_.end());
  for (std::size_t first = begin; first < end; first += kInputRowsTogether) {
    const std::size_t rows = std::min(kInputRowsTogether, end - first);
    std::fill_n(scratch.gradient.data(), rows * stride, 0.0f);
    for (std::size_t r = 0; r < rows; ++r) scratch.gradients[r] = scratch.gradient.data() + r * stride;
    sum_dense(batch, first - dense_.first, {rows, size}, scratch);
    for (std::size_t r = 0; r < rows; ++r)
      optimizer.update(trained.weights, first + r, scratch.gradients[r], true, scratch.packed);
  }
}

// Adds the gradients of `rows` dense features, from number `first` of them on, [rows x size].
void InputTraining::sum_dense(const Batch& batch, std::size_t first, const DenseShape& shape,
                              Scratch& scratch) const {
  for (const Block& block : batch.blocks) {
    for (std::size_t slice = 0; slice * kSliceSamples < block.samples(); ++slice) {
      const Slice samples = slice_of(slice, block.lanes, kSliceSamples);
      const std::size_t used = std::min(samples.end(), block.samples()) - samples.first;
      for (std::size_t r = 0; r < shape.rows; ++r)
        scratch.dense[r] = block.dense.xt(slice) + (first + r) * samples.count;
      kernels::active().rows_gradient(scratch.dense.data(), shape.rows, used,
                                      deltas_.data() + (block.first_sample() + samples.first) * ldo_, ldo_,
                                      shape.size, scratch.gradients.data());
    }
  }
}

}  // namespace slide

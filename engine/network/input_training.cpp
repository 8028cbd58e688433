#include "engine/network/input_training.h"

#include <algorithm>

#include "engine/kernels/kernels.h"

namespace slide {

InputTraining::InputTraining(const InputLayer& layer, const Dataset& train, std::size_t samples,
                             std::uint32_t shards)
    : ldo_(layer.ldo()),
      shards_(train, {layer.weights().first, layer.features()}, samples, shards),
      deltas_(samples * ldo_),
      slots_(layer.features()) {}

void InputTraining::backward(const InputLayer& layer, const SliceCell& cell, const Block& block) {
  backward_through_activation(layer.config(), cell, block.input, delta(block.first_sample()));
}

InputTraining::Scratch InputTraining::make_scratch(const InputLayer& layer, std::size_t samples) const {
  Scratch scratch;
  scratch.parts.reserve(samples);
  scratch.gradient = AlignedArray<float>(layer.weights().stride);
  if (layer.weights().is_bf16()) scratch.packed.reserve(layer.size());
  return scratch;
}

double InputTraining::bytes_of(std::size_t size, std::size_t features, std::size_t samples) {
  return double(samples * kernels::spread_stride(size)) * sizeof(float) +
         double(features) * sizeof(std::uint64_t);
}

double InputTraining::scratch_bytes_of(std::size_t size, Precision precision, std::size_t samples) {
  return double(samples) * sizeof(SamplePart) + double(Parameters::stride_of(size)) * sizeof(float) +
         (precision == Precision::kBf16 ? double(PackedRow::bytes_of(size)) : 0.0);
}

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
  if (shard != 0) return;
  std::fill_n(g, size, 0.0f);
  for (std::size_t s = 0; s < batch.samples; ++s) k.axpy(1.0f, deltas_.data() + s * ldo_, size, g);
  optimizer.update(trained.bias, 0, g, false, scratch.packed);
}

}  // namespace slide

#include "engine/network/input_layer.h"

#include <cmath>
#include <numeric>

namespace slide {

InputLayer::InputLayer(const LayerConfig& config, std::size_t features, Precision precision, Slice dense)
    : config_(config),
      weights_(features, config.size, precision),
      bias_(1, config.size),
      dense_(dense.count) {
  std::iota(dense_.begin(), dense_.end(), static_cast<std::uint32_t>(dense.first));
}

void InputLayer::initialise(std::uint64_t seed, int threads, std::span<const std::size_t> ends) {
  // A unit-length sample then gives pre-activations of variance 2 / size: hidden vectors of about unit
  // length.
  weights_.fill_uniform(config_.init_scale * std::sqrt(2.0 / double(size())), seed, 0, threads, ends);
}

void InputLayer::reserve(LayerBlock& block, std::size_t lanes) const {
  block.count = size();
  block.ldo = ldo();
  block.out = AlignedArray<float>(lanes * block.ldo);
  block.out_t = AlignedArray<float>(size() * lanes);
  if (config_.dropout > 0) block.mask = AlignedArray<float>(block.ldo * lanes);
}

double InputLayer::block_bytes_of(const LayerConfig& config, std::size_t lanes) {
  const double arrays = config.dropout > 0 ? 2 : 1;  // out, mask
  return (arrays * double(kernels::spread_stride(config.size)) + config.size) * double(lanes) * sizeof(float);
}

// Sample by sample: bias, sum of value * row, activation; then the transpose.
void InputLayer::forward(std::span<const SparseRow> rows, std::size_t lanes, Slice samples,
                         LayerBlock& block) const {
  for (std::size_t s = samples.first; s < samples.end(); ++s) {
    float* h = block.out.data() + s * block.ldo;
    if (s >= rows.size()) {
      std::fill_n(h, block.ldo, 0.0f);
      continue;
    }
    std::copy_n(bias_.row(0), size(), h);
    gather(rows[s], h);
    activation_forward(config_.activation, h, size());
  }
  finish(lanes, samples, block);
}

// Biases, the dense features as a matrix product, then as above.
void InputLayer::forward(std::span<const SparseRow> rows, const DenseInput& dense, std::size_t lanes,
                         std::size_t slice, LayerBlock& block) const {
  const Slice samples = slice_of(slice, lanes, kSliceSamples);
  float* first = block.out.data() + samples.first * block.ldo;
  for (std::size_t s = 0; s < samples.count; ++s) std::copy_n(bias_.row(0), size(), first + s * block.ldo);
  multiply(dense, slice, samples, first);
  for (std::size_t s = samples.first; s < samples.end(); ++s) {
    float* h = block.out.data() + s * block.ldo;
    if (s >= rows.size()) {
      std::fill_n(h, block.ldo, 0.0f);
      continue;
    }
    gather(rows[s], h);
    activation_forward(config_.activation, h, size());
  }
  finish(lanes, samples, block);
}

// h [samples x ldo] += the dense features of the samples times their rows.
void InputLayer::multiply(const DenseInput& dense, std::size_t slice, Slice samples, float* h) const {
  const auto& k = kernels::active();
  if (weights_.is_fp32()) {
    k.rows_backward_input(weights_.weights.data(), weights_.stride, dense_.data(), dense_.size(),
                          dense.xt(slice), size(), samples.count, h, ldo());
    return;
  }
  for (std::size_t s = 0; s < samples.count; ++s) {
    gather({dense_, {dense.x() + (samples.first + s) * dense.ldx(), dense_.size()}}, h + s * ldo());
  }
}

// h [size] += sum of value * row over the features of `row`, by the format of the weights.
void InputLayer::gather(const SparseRow& row, float* h) const {
  const auto& k = kernels::active();
  if (weights_.is_int8()) {
    k.gather_rows_int8(weights_.int8_rows(), row.ids.data(), row.values.data(), row.ids.size(), size(), h);
  } else if (weights_.is_bf16()) {
    k.gather_rows_bf16(weights_.pairs.data(), weights_.pair_stride, row.ids.data(), row.values.data(),
                       row.ids.size(), size(), h);
  } else {
    k.gather_rows(weights_.weights.data(), weights_.stride, row.ids.data(), row.values.data(), row.ids.size(),
                  size(), h);
  }
}

void InputLayer::add_features(const SparseRow& row, Slice features, float* h) const {
  const auto begin = std::ranges::lower_bound(row.ids, features.first) - row.ids.begin();
  const auto end = std::ranges::lower_bound(row.ids, features.end()) - row.ids.begin();
  const auto first = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
  gather({row.ids.subspan(first, count), row.values.subspan(first, count)}, h);
}

void InputLayer::finish(std::size_t lanes, Slice samples, LayerBlock& block) const {
  kernels::active().transpose(block.out.data() + samples.first * block.ldo, block.ldo, samples.count, size(),
                              lanes, block.out_t.data() + samples.first);
}

}  // namespace slide

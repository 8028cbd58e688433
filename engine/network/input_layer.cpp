#include "engine/network/input_layer.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/kernels.h"
#include "engine/network/activation.h"

namespace slide {

InputLayer::InputLayer(const LayerConfig& config, std::size_t features, OptimizerKind kind,
                       Precision precision)
    : config_(config), weights_(features, config.size, kind, precision), bias_(1, config.size, kind) {}

void InputLayer::initialise(std::uint64_t seed, int threads) {
  // A unit-length sample then gives pre-activations of variance 2 / size: hidden vectors of about unit
  // length.
  weights_.fill_uniform(std::sqrt(2.0 / double(size())), seed, 0, threads);
}

void InputLayer::prepare(std::size_t lanes_total) {
  deltas_ = AlignedArray<float>(lanes_total * ldo());
  slots_ = AlignedArray<std::uint64_t>(weights_.rows);
}

void InputLayer::reserve(LayerBlock& block, std::size_t lanes) const {
  block.count = size();
  block.ldo = ldo();
  block.out = AlignedArray<float>(lanes * block.ldo);
  block.out_t = AlignedArray<float>(size() * lanes);
  if (config_.dropout > 0) block.mask = AlignedArray<float>(block.ldo * lanes);
}

void InputLayer::forward(std::span<const SparseRow> rows, std::size_t lanes, LayerBlock& block) const {
  const auto& k = kernels::active();
  for (std::size_t s = 0; s < rows.size(); ++s) {
    float* h = block.out.data() + s * block.ldo;
    std::copy_n(bias_.row(0), size(), h);
    const SparseRow& row = rows[s];
    if (weights_.half()) {
      k.gather_rows_bf16(weights_.pairs.data(), weights_.pair_stride, row.ids.data(), row.values.data(),
                         row.ids.size(), size(), h);
    } else {
      k.gather_rows(weights_.weights.data(), weights_.stride, row.ids.data(), row.values.data(),
                    row.ids.size(), size(), h);
    }
    activation_forward(config_.activation, h, size());
  }
  std::fill(block.out.begin() + rows.size() * block.ldo, block.out.begin() + lanes * block.ldo, 0.0f);
  k.transpose(block.out.data(), block.ldo, lanes, size(), lanes, block.out_t.data());
}

void InputLayer::backward(std::size_t lanes, std::size_t first_sample, const LayerBlock& block) {
  backward_through_activation(config_, lanes, block, delta(first_sample));
}

void InputLayer::update(const RowGroups& groups, bool with_bias, std::size_t batch_samples,
                        const Optimizer& optimizer, float* g, PackedRow& packed) {
  const auto& k = kernels::active();
  constexpr std::size_t kAhead = 12;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i + kAhead < groups.size()) {
      weights_.prefetch_row(groups.row(i + kAhead));
      weights_.prefetch_state(groups.row(i + kAhead));
    }
    std::fill_n(g, size(), 0.0f);
    k.gather_rows(deltas_.data(), ldo(), groups.sources(i).data(), groups.values(i), groups.sources(i).size(),
                  size(), g);
    optimizer.update(weights_, groups.row(i), g, true, packed);
  }
  if (!with_bias) return;
  std::fill_n(g, size(), 0.0f);
  for (std::size_t s = 0; s < batch_samples; ++s) k.axpy(1.0f, deltas_.data() + s * ldo(), size(), g);
  optimizer.update(bias_, 0, g, false, packed);
}

}  // namespace slide

// The first layer when it is dense: hidden = f(bias + sum of feature value * feature row).
//
// Weights are stored by feature, so that a sample reads, and a step writes, only the rows of sparse features
// that occur. Those of dense features come last; all samples have them, so they are multiplied as a matrix.
// There is no gradient into the data, here or anywhere. forward() may run on many blocks at once; how the
// layer is trained stands in input_training.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/config/config.h"
#include "engine/kernels/kernels.h"
#include "engine/network/activation.h"
#include "engine/network/block.h"
#include "engine/network/parameters.h"

namespace slide {

class InputLayer {
 public:
  // `features` in all, the last `dense` of which are dense columns.
  InputLayer(const LayerConfig& config, std::size_t features, Precision precision, std::size_t dense = 0);

  // Random weights times init_scale, zero biases.
  // `ends`: of the features that each thread writes first (Parameters::fill_uniform).
  void initialise(std::uint64_t seed, int threads, std::span<const std::size_t> ends = {});
  void reserve(LayerBlock& block, std::size_t lanes) const;
  static double block_bytes_of(const LayerConfig& config, std::size_t lanes);  // of reserve()

  std::size_t size() const { return weights_.columns; }
  std::size_t features() const { return weights_.rows; }
  // Dense features, and the row of the first of them.
  std::size_t dense() const { return dense_.size(); }
  std::size_t first_dense() const { return features() - dense(); }

  // block.out [lanes x ldo] and block.out_t [size x lanes] of some samples, or spare lanes, from the sparse
  // rows of all. May run on different ones at once.
  void forward(std::span<const SparseRow> rows, std::size_t lanes, Slice samples, LayerBlock& block) const;
  // The same where there are dense features, of a slice of samples, which `dense` has transposed.
  void forward(std::span<const SparseRow> rows, const DenseInput& dense, std::size_t lanes, std::size_t slice,
               LayerBlock& block) const;

  // The same in two calls, where the features of a sample are split: what the layer's features in `features`
  // add to `h` [size], before bias and activation; and the samples' block.out and block.out_t of these sums.
  void add_features(const SparseRow& row, Slice features, float* h) const;
  template <class SumOf>  // sum_of(sample, h) puts the sum of a sample into h [size]
  void activate(std::size_t used, std::size_t lanes, Slice samples, const SumOf& sum_of,
                LayerBlock& block) const;

  Parameters& weights() { return weights_; }
  const Parameters& weights() const { return weights_; }
  const LayerConfig& config() const { return config_; }
  Parameters& bias() { return bias_; }
  const Parameters& bias() const { return bias_; }

  std::size_t ldo() const { return kernels::spread_stride(size()); }  // of block.out and of deltas

 private:
  void gather(const SparseRow& row, float* h) const;
  void multiply(const DenseInput& dense, std::size_t slice, Slice samples, float* h) const;
  void finish(std::size_t lanes, Slice samples, LayerBlock& block) const;

  LayerConfig config_;
  Parameters weights_;                // [features x size]
  Parameters bias_;                   // [1 x size]
  std::vector<std::uint32_t> dense_;  // the rows of dense features
};

template <class SumOf>
void InputLayer::activate(std::size_t used, std::size_t lanes, Slice samples, const SumOf& sum_of,
                          LayerBlock& block) const {
  for (std::size_t s = samples.first; s < samples.end(); ++s) {
    float* h = block.out.data() + s * block.ldo;
    if (s >= used) {
      std::fill_n(h, block.ldo, 0.0f);
      continue;
    }
    sum_of(s, h);
    kernels::active().axpy(1.0f, bias_.row(0), size(), h);
    activation_forward(config_.activation, h, size());
  }
  finish(lanes, samples, block);
}

}  // namespace slide

// A dense first layer: h = f(bias + sum of feature value * feature row).
//
// Weights are stored by feature: a sample reads, and a step writes, only the rows of the sparse features that
// occur. Rows of dense features lie side by side and are multiplied as a matrix. No gradient of the data is
// computed. InputTraining (input_training.h) holds the state of training. Thread safety: const functions may
// run on tiles of many blocks at the same time.
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
  // For `features` features, of which those in `dense` are dense columns.
  InputLayer(const LayerConfig& config, std::size_t features, Precision precision, Slice dense = {});

  // Random weights times init_scale, zero biases. `ends`: as for Parameters::fill_uniform(), of features.
  void initialise(std::uint64_t seed, int threads, std::span<const std::size_t> ends = {});
  void reserve(LayerBlock& block, std::size_t lanes) const;
  static double block_bytes_of(const LayerConfig& config, std::size_t lanes);  // of reserve()

  std::size_t size() const { return weights_.columns; }
  std::size_t features() const { return weights_.rows; }
  // Number of dense features, and their rows.
  std::size_t dense() const { return dense_.size(); }
  Slice dense_rows() const { return {dense_.empty() ? 0 : dense_.front(), dense()}; }

  // block.out [lanes x ldo] and block.out_t [size x lanes] = h of a range of lanes; spare lanes get 0.
  // `rows`: sparse features of all samples of the block.
  void forward(std::span<const SparseRow> rows, std::size_t lanes, Slice samples, LayerBlock& block) const;
  // The same with dense features, for one slice of samples, after dense.transpose() of that slice.
  void forward(std::span<const SparseRow> rows, const DenseInput& dense, std::size_t lanes, std::size_t slice,
               LayerBlock& block) const;

  // The same in two calls, for features divided among parts. add_features(): h [size] += the terms of the
  // features in `features`, without bias. activate(): block.out and block.out_t from the sums over all parts;
  // sum_of(sample, h) sets h [size] to the sum of a sample. `used`: samples of the block.
  void add_features(const SparseRow& row, Slice features, float* h) const;
  template <class SumOf>
  void activate(std::size_t used, std::size_t lanes, Slice samples, const SumOf& sum_of,
                LayerBlock& block) const;

  Parameters& weights() { return weights_; }
  const Parameters& weights() const { return weights_; }
  const LayerConfig& config() const { return config_; }
  Parameters& bias() { return bias_; }
  const Parameters& bias() const { return bias_; }

  std::size_t ldo() const { return kernels::spread_stride(size()); }  // stride of block.out and of deltas

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

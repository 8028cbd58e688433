// The first layer when it is dense: hidden = f(bias + sum of feature value * feature row).
//
// Weights are stored by feature, so that a sample reads, and a step writes, only the rows of features that
// occur. There is no gradient into the data, here or anywhere. forward() and backward() may run on
// different blocks at once, update() on different shards, but not one beside the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/config/config.h"
#include "engine/kernels/kernels.h"
#include "engine/network/block.h"
#include "engine/network/optimizer.h"
#include "engine/network/parameters.h"

namespace slide {

class InputLayer {
 public:
  InputLayer(const LayerConfig& config, std::size_t features, OptimizerKind kind, Precision precision);

  // Random weights, zero biases.
  void initialise(std::uint64_t seed, int threads);
  // Makes backward() and update() possible: deltas of a batch of `lanes_total` lanes and the row directory.
  void prepare(std::size_t lanes_total);
  void reserve(LayerBlock& block, std::size_t lanes) const;

  std::size_t size() const { return weights_.columns; }
  std::size_t features() const { return weights_.rows; }

  // block.out [lanes x ldo] and block.out_t [size x lanes] from the samples' sparse rows.
  void forward(std::span<const SparseRow> rows, std::size_t lanes, LayerBlock& block) const;

  // Where the layer above writes d loss / d output of the block whose first sample is `first_sample` of the
  // batch: [lanes x ldo], sample-major.
  float* delta(std::size_t first_sample) { return deltas_.data() + first_sample * ldo(); }

  // Takes delta(first_sample) through the activation.
  void backward(std::size_t lanes, std::size_t first_sample, const LayerBlock& block);

  // Gradient and update of the features of one shard; shard 0 also updates the bias from all
  // `batch_samples` samples. g: scratch of size() floats; packed: of as many values.
  void update(const RowGroups& groups, bool with_bias, std::size_t batch_samples, const Optimizer& optimizer,
              float* g, PackedRow& packed);

  std::uint64_t* slots() { return slots_.data(); }
  Parameters& weights() { return weights_; }
  const Parameters& weights() const { return weights_; }
  const LayerConfig& config() const { return config_; }
  Parameters& bias() { return bias_; }
  const Parameters& bias() const { return bias_; }

 private:
  std::size_t ldo() const { return kernels::spread_stride(size()); }

  LayerConfig config_;
  Parameters weights_;          // [features x size]
  Parameters bias_;             // [1 x size]
  AlignedArray<float> deltas_;  // [lanes of a batch x ldo]
  AlignedArray<std::uint64_t> slots_;
};

}  // namespace slide

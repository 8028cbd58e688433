// The wide path: sparse weights straight from input features to output neurons, beside the hidden layers.
//
// A neuron has weights only for features that occur in its own label's training samples (its pattern, at most
// `wide_features` of them, the strongest), started at the normalised sum of those samples. What the hidden
// layers are too narrow to remember of a rare label stands here (compare the wide part of Cheng et al., "Wide
// & Deep Learning", 2016, and the one-vs-all linear models of extreme classification).
//
// forward() is const and may run on many blocks at once; update() on different neurons.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/config.h"

namespace slide {

// The features of a block, by feature: which samples have it, with which value. One a block; not thread-safe.
class BlockFeatures {
 public:
  // For ids below `features` and blocks of up to `entries` feature values.
  void reserve(std::size_t features, std::size_t entries);
  void build(std::span<const SparseRow> rows);

  // One bit a feature: present in the block.
  const std::uint32_t* present() const { return present_.data(); }
  std::uint32_t column(std::uint32_t feature) const { return position_[feature]; }

  struct Entry {
    std::uint32_t sample;
    float value;
  };
  std::span<const Entry> entries(std::uint32_t column) const {
    return {entries_.data() + offsets_[column], offsets_[column + 1] - offsets_[column]};
  }

 private:
  std::vector<std::uint32_t> present_;   // bits
  std::vector<std::uint32_t> position_;  // column of a present feature
  std::vector<std::uint32_t> features_;  // of the columns
  std::vector<std::uint32_t> offsets_;
  std::vector<Entry> entries_;
};

// Where a block met the patterns of its active neurons; what backward needs. Grown as needed, then kept.
struct WideHits {
  struct Hit {
    std::uint64_t weight;  // index of the weight
    std::uint32_t column;  // of the block's features
  };
  std::vector<Hit> hits;
  std::vector<std::size_t> offsets;  // by active neuron
  std::vector<std::uint32_t> found;  // scratch
};

class WidePath {
 public:
  // No pattern yet: for a model file to fill.
  explicit WidePath(const LayerConfig& config) : config_(config) {}
  // Patterns and first weights of `neurons` labels from their samples in `train`.
  WidePath(const LayerConfig& config, const Dataset& train, std::size_t neurons, int threads);

  // z[a*lanes + s] += sum over the features f that sample s and pattern of ids[a] share of w * x_s[f].
  // Records the meetings in `hits` unless that is nullptr; `found` is scratch for then.
  void forward(const BlockFeatures& features, std::span<const std::uint32_t> ids, std::size_t lanes, float* z,
               WideHits& hits, bool record) const;

  // Adagrad with an accumulator a weight on the weights of active neuron `a` of the block that `hits` is
  // from, from its deltas d[samples]. rate: the step's factor on wide_rate, in [0, 1].
  void update(const BlockFeatures& features, const WideHits& hits, std::size_t a, const float* d, float rate);

  std::size_t weights() const { return weights_.size(); }
  std::size_t bytes() const;

  // Storage, for the model file: pattern of neuron i in [offsets[i], offsets[i+1]).
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> features_;
  std::vector<float> weights_;
  std::vector<float> accumulators_;

 private:
  LayerConfig config_;
};

}  // namespace slide

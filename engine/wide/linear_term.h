// Linear term: sparse weights from input features directly to output neurons, added to the logits of the
// hidden layers. It is the "wide" part of wide-and-deep (Cheng et al., "Wide & Deep Learning", 2016) and
// resembles the one-vs-all linear models of extreme classification.
//
// Sparsity: a neuron has weights only for its pattern: the `wide_features` strongest features of its label's
// training samples, initialised to the normalised sum of those samples; and up to `wide_negatives`
// hard-negative features (hard_negative_features.h), initialised to 0. The term memorises features of rare
// labels for which narrow hidden layers lack capacity.
//
// Thread safety: const methods are safe from any thread; update() may run concurrently for different neurons.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"
#include "engine/config/config.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/small_values.h"
#include "engine/network/block_features.h"
#include "engine/network/layer.h"
#include "engine/network/output_term.h"
#include "engine/statistics/feature_scale.h"
#include "engine/statistics/growth.h"
#include "engine/wide/item_ridge.h"

namespace slide {

// Writes the offsets of lists, from 0 to the end, as one array; each process writes the offsets of its shard.
void put_shared_offsets(std::span<const std::uint64_t> offsets, ByteWriter& out);

class LinearTerm final : public OutputTerm {
 public:
  // No patterns; a model file fills them.
  explicit LinearTerm(const LayerConfig& config) : config_(config) {}
  // Patterns of `neurons` labels from their samples in `train`, scaled by `scale`, and initial weights of
  // Euclidean length `length` per neuron.
  LinearTerm(const LayerConfig& config, double length, const Dataset& train, std::size_t neurons, int threads,
             const FeatureScale& scale = {});

  // Patterns and initial weights of the neurons of items [first, first + count), from item weights: per item
  // the at most `wide_features` strongest, times `scale`.
  LinearTerm(const LayerConfig& config, const ItemWeights& items, std::size_t first, std::size_t count,
             double scale, int threads);

  // New data of incremental training.
  struct More {
    const Dataset& samples;
    const FeatureScale& scale;
    double length;                               // Euclidean length of a new neuron's initial weights
    std::span<const std::uint32_t> frequencies;  // of all samples so far, new ones included; by label
    const ItemWeights* items;  // initial weights / `length`, in place of the samples' sums; or nullptr
  };
  // Returns a larger linear term for incremental training; the weights of `before` stay. New neurons get
  // patterns and initial weights as in the constructors. Other neurons get features of their new samples
  // while their patterns have room; the initial weight is the weight of a new neuron times the share of the
  // new samples among all samples of the label (label texts included in both). `sums`: the optimizer's
  // accumulators by weight; grows with the weights unless empty.
  static LinearTerm grown(const LinearTerm& before, const LayerConfig& config, const Growth& growth,
                          const More& more, int threads, AlignedArray<float>& sums);

  // z[a * lanes + s] += sum of w * x_s[f] over the features f of both sample s and the pattern of ids[a].
  // Stores the matches in `hits`.
  void forward(const BlockFeatures& features, std::span<const std::uint32_t> ids, std::size_t lanes, float* z,
               TermHits& hits, TermScratch& scratch) const override;

  // z[a] += sum of w * by_feature[f] over the features f of the pattern of ids[a], for one sample with dense
  // values `by_feature` [features]. `weights` is scratch.
  void add_scores(std::span<const std::uint32_t> ids, const float* by_feature, std::vector<float>& weights,
                  float* z) const;

  // Prefetches the weights of neuron `id`: before forward(), or together with the accumulators before
  // update().
  void prefetch(std::uint32_t id, const float* sums = nullptr) const override;

  // Adagrad step on the weights of neuron `id`, with one accumulator per weight in sums[weights()].
  // Accumulators start at 1, the square of the largest gradient of one sample, so that a rarely updated
  // weight moves by its gradient and not by the gradient's sign. `sums` stores them minus 1.
  void update(std::uint32_t id, const BlockMatch& at, const Deltas& deltas, Step step, std::span<float> sums,
              std::vector<float>& gradients) override;

  // Writes patterns and weights. load() throws InputError for patterns of other sizes and where get_weights()
  // does.
  void save(ByteWriter& out) const override;
  // Reads the neurons of this term, which begin at neuron `first` of the `neurons` in the file. Returns the
  // number of weights before theirs.
  std::uint64_t load(ByteReader& in, std::size_t features, std::size_t first, std::size_t neurons) override;
  // Reads the weights into the storage, whose patterns are read already. Throws InputError for patterns that
  // are not consecutive, do not ascend by feature or name features from `features` on, and, with its
  // position, for a weight that is not finite.
  void get_weights(ByteReader& in, std::size_t features);

  std::size_t weights() const override { return storage_.features.size(); }
  std::size_t bytes() const;
  // Memory of patterns with `weights` weights; and the max number of weights for a layer configuration, where
  // `label_features` is the sum over samples of labels * features.
  static double bytes_of(double weights, double neurons);
  static double max_weights(const LayerConfig& config, double neurons, double label_features);
  // Upper bound of the temporary memory to build the patterns.
  static double finding_bytes_of(const LayerConfig& config, double neurons, double label_features,
                                 double features, int threads);

  // Content of the model file. Neuron i has features and weights [offsets[i], offsets[i + 1]), ascending by
  // feature.
  struct Storage {
    std::vector<std::uint64_t> offsets;
    AlignedArray<std::uint32_t> features;
    AlignedArray<float> weights;
    SmallValues small;  // quantized weights of a compressed model, in place of `weights`; inference only

    // Weight at index `at`, which belongs to `neuron`.
    float weight(std::size_t neuron, std::uint64_t at) const {
      return small.empty() ? weights[at] : small.value(neuron, at);
    }
    // Converts quantized weights to floats.
    void widen();
  };
  const Storage& storage() const { return storage_; }
  // Returns a copy with float weights.
  LinearTerm widened() const;
  Storage& storage() { return storage_; }

 private:
  struct PatternTile;  // adjacent neurons
  struct Patterns;     // patterns and initial weights of some neurons, one after another
  class PatternFinder;
  template <class SamplesOf>
  static std::vector<PatternTile> tiles_of(std::size_t neurons, SamplesOf&& samples_of);
  static std::size_t append_strongest(const SparseRow& row, std::size_t limit, double scale, Patterns& to);
  template <class Append>
  void build_patterns(const std::vector<PatternTile>& tiles, std::size_t limit, int threads, Append&& append);

  LayerConfig config_;
  Storage storage_;
};

// The linear term of a layer; nullptr where it has none.
inline const LinearTerm* linear_term_of(const Layer& layer) {
  return dynamic_cast<const LinearTerm*>(layer.term());
}
inline LinearTerm* linear_term_of(Layer& layer) {
  return dynamic_cast<LinearTerm*>(layer.term());
}

}  // namespace slide

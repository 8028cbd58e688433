// The wide path: sparse weights straight from input features to output neurons, beside the hidden layers.
//
// A neuron has weights only for features that occur in its own label's training samples (its pattern, at most
// `wide_features` of them, the strongest), started at the normalised sum of those samples, and for at most
// `wide_negatives` of those that may speak against it (hard_negative_features.h), started at 0. What the
// hidden layers are too narrow to remember of a rare label stands here (compare the wide part of Cheng et
// al., "Wide & Deep Learning", 2016, and the one-vs-all linear models of extreme classification).
//
// forward() is const and may run on slices of many blocks at once; update() on different neurons.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"
#include "engine/config/config.h"
#include "engine/features/block_features.h"
#include "engine/features/feature_scale.h"
#include "engine/features/growth.h"
#include "engine/features/small_values.h"
#include "engine/kernels/kernels.h"
#include "engine/wide/item_ridge.h"

namespace slide {

// Where a block met the patterns of its active neurons; what backward needs. Grown as needed, then kept.
struct WideHits {
  struct Neuron {
    std::size_t masks = 0;   // its first: a bit for each weight of its pattern, 16 a mask
    std::size_t kinds = 0;   // its first: a bit for each hit, 16 in each of kKinds masks
    std::size_t places = 0;  // its first: all of kind 0, then of kind 1, ...
    std::uint32_t count[kernels::kKinds] = {};
    std::size_t found() const { return std::size_t{count[0]} + count[1] + count[2] + count[3]; }
  };
  std::vector<Neuron> neurons;  // by active neuron
  std::vector<std::uint16_t> masks, kinds;
  std::vector<std::uint32_t> places;
};

// Working memory of forward(), for one neuron at a time. Grown as needed, then kept.
struct WideScratch {
  std::vector<std::uint32_t> columns, parted;
  std::vector<float> pattern, weights, parted_weights;
};

// The offsets of lists, from 0 to their end, of which each process has some, as one array.
void put_shared_offsets(std::span<const std::uint64_t> offsets, ByteWriter& out);

class WidePath {
 public:
  // No pattern yet: for a model file to fill.
  explicit WidePath(const LayerConfig& config) : config_(config) {}
  // Patterns of `neurons` labels from their samples in `train`, as `scale` makes them, and first weights of
  // `length` for each neuron.
  WidePath(const LayerConfig& config, double length, const Dataset& train, std::size_t neurons, int threads,
           const FeatureScale& scale = {});

  // Patterns and first weights of `count` neurons, of the items from `first` on, from the weights of these:
  // of each the strongest, at most `wide_features`, times `scale`.
  WidePath(const LayerConfig& config, const ItemWeights& items, std::size_t first, std::size_t count,
           double scale, int threads);

  // What training goes on with.
  struct More {
    const Dataset& samples;
    const FeatureScale& scale;
    double length;                               // of a new neuron's first weights
    std::span<const std::uint32_t> frequencies;  // of all samples so far, these among them; by label
    const ItemWeights* items;  // first weights times `length`, in place of those of the samples; or nullptr
  };
  // A larger path that goes on from `before`, whose weights stay. New neurons get patterns and first weights
  // as above. To those of others, features of their new samples are added, as long as the patterns are not
  // full, with the first weights of such a pattern times the share of the new samples among all of the label,
  // its texts among both.
  // `sums`, what the optimizer remembers of the weights, grows with them where it is not empty.
  static WidePath grown(const WidePath& before, const LayerConfig& config, const Growth& growth,
                        const More& more, int threads, AlignedArray<float>& sums);

  // z[a*lanes + s] += sum over the features f that sample s and pattern of ids[a] share of w * x_s[f].
  // Leaves where they met in `hits`.
  void forward(const BlockFeatures& features, std::span<const std::uint32_t> ids, std::size_t lanes, float* z,
               WideHits& hits, WideScratch& scratch) const;

  // z[a] += sum over the features f in the pattern of ids[a] of w * by_feature[f], for one sample whose
  // values are there. `weights` grows as needed.
  void add_scores(std::span<const std::uint32_t> ids, const float* by_feature, std::vector<float>& weights,
                  float* z) const;

  // Asks for the weights of neuron `id`: before forward(), or with the sums of squares before update().
  void prefetch(std::uint32_t id, const float* sums = nullptr) const;

  // Where a block met the pattern of a neuron, which is its active neuron `a`.
  struct BlockMatch {
    const BlockFeatures& features;
    const WideHits& hits;
    std::size_t a;
    std::size_t lanes;
  };
  struct Deltas {
    const float* d;  // [lanes]
    std::span<const std::uint32_t>
        listed;  // samples whose delta is not 0, or none if nobody has made the list
  };
  struct Step {
    float rate;     // the step's share of wide_rate, in [0, 1]
    float samples;  // in the batch: their number takes deltas of the mean loss to those of one sample
  };
  // Adagrad with an accumulator a weight, sums[weights()], on the weights of neuron `id`. Accumulators start
  // at 1, the square of one sample's largest gradient: a weight that is rarely met moves by its gradient, not
  // by its sign. `sums` holds them less that 1.
  void update(std::uint32_t id, const BlockMatch& at, const Deltas& deltas, Step step, std::span<float> sums,
              std::vector<float>& gradients);

  // Patterns and weights. load() refuses patterns of other sizes, and what get_weights()
  // does.
  void save(ByteWriter& out) const;
  // Of `neurons` neurons, those from number `first` on. Returns how many weights are before theirs.
  std::uint64_t load(ByteReader& in, std::size_t features, std::size_t first, std::size_t neurons);
  // Weights of the storage, filled but for them. Refuses patterns that do not follow each other or name
  // features from `features` on, and by their place weights that are not finite.
  void get_weights(ByteReader& in, std::size_t features);

  std::size_t weights() const { return storage_.features.size(); }
  std::size_t bytes() const;
  // Of patterns of `weights` weights in all, and the most there are of a layer configured so:
  // `label_features` is the sum over samples of labels times features.
  static double bytes_of(double weights, double neurons);
  static double most_weights(const LayerConfig& config, double neurons, double label_features);
  // At most, what finding these patterns takes beside them.
  static double finding_bytes_of(const LayerConfig& config, double neurons, double label_features,
                                 double features, int threads);

  // What the model file keeps. Neuron i has the features and weights [offsets[i], offsets[i+1]), ascending.
  struct Storage {
    std::vector<std::uint64_t> offsets;
    AlignedArray<std::uint32_t> features;
    AlignedArray<float> weights;
    SmallValues small;  // in their place, of a small model file: for inference alone

    // Weight number `at`, which is one of `neuron`.
    float weight(std::size_t neuron, std::uint64_t at) const {
      return small.empty() ? weights[at] : small.value(neuron, at);
    }
    // Weights that are small become floats.
    void widen();
  };
  const Storage& storage() const { return storage_; }
  // A copy whose weights are floats.
  WidePath widened() const;
  Storage& storage() { return storage_; }

 private:
  struct PatternChunk;  // neighbouring neurons
  struct Patterns;      // of some, and first weights, one behind the other
  class PatternFinder;
  template <class SamplesOf>
  static std::vector<PatternChunk> chunks_of(std::size_t neurons, SamplesOf&& samples_of);
  static std::size_t append_strongest(const SparseRow& row, std::size_t most, double scale, Patterns& to);
  template <class Append>
  void find(const std::vector<PatternChunk>& chunks, std::size_t most, int threads, Append&& append);

  LayerConfig config_;
  Storage storage_;
};

}  // namespace slide

// The wide path: sparse weights straight from input features to output neurons, beside the hidden layers.
//
// A neuron has weights only for features that occur in its own label's training samples (its pattern, at most
// `wide_features` of them, the strongest), started at the normalised sum of those samples. What the hidden
// layers are too narrow to remember of a rare label stands here (compare the wide part of Cheng et al., "Wide
// & Deep Learning", 2016, and the one-vs-all linear models of extreme classification).
//
// forward() is const and may run on many blocks at once; update() on different neurons.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/base/state_io.h"
#include "engine/config.h"
#include "engine/feature_scale.h"
#include "engine/kernels/kernels.h"

namespace slide {

// The features of a block, by feature. One of many samples is a dense column, the value that each sample has of
// it; one of few is the list of its entries, filled up to 2, 4 or 8 with zeros, so that loops over them have a fixed
// length. Which features are there is kept in two words for 32, which stay in the first-level cache while patterns
// are compared with them. One a block; not thread-safe.
class BlockFeatures {
 public:
  // For ids below `features` and blocks of up to `entries` feature values in up to `lanes` lanes.
  void reserve(std::size_t features, std::size_t entries, std::size_t lanes);
  void build(std::span<const SparseRow> rows, std::size_t lanes);

  // Most samples of a feature that is a list: a dense column costs a vector for 16 samples, an entry about as much.
  static std::size_t sparse_entries(std::size_t lanes) { return lanes < 64 ? 0 : std::min<std::size_t>(lanes / 16, 8); }

  std::size_t size() const { return size_; }  // distinct features
  // A bit for each feature, and of each word of bits the number of its first feature; the others follow.
  const std::uint32_t* present() const { return present_.data(); }
  const std::uint32_t* first() const { return first_.data(); }
  // By number: place * kKinds + kind. Of kind 0 the dense columns, in order; of kind k lists of 2^k entries.
  const std::uint32_t* places() const { return places_.data(); }
  // Entries of the list at places()[i], without what fills it up; 0 for a dense column.
  std::uint32_t length_of(std::uint32_t place) const;
  std::span<const std::uint32_t> words() const { return words_; }  // with a bit set, in order of the features
  const float* columns() const { return columns_.data(); }         // [dense columns x lanes]
  const std::uint16_t* samples() const { return samples_.data(); }  // of the entries
  const float* values() const { return values_.data(); }

 private:
  void count_features(std::span<const SparseRow> rows);
  void give_places(std::size_t lanes);

  std::size_t size_ = 0;
  std::vector<std::uint32_t> present_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> words_;      // with a bit set
  std::vector<std::uint32_t> entry_of_;   // of each feature value of the block, its feature
  std::vector<std::uint32_t> samples_of_;  // of each feature, how many have it; then how many were filled in
  std::vector<std::uint32_t> places_;
  AlignedArray<float> columns_;
  std::vector<std::uint16_t> samples_;
  std::vector<float> values_;
};

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
  std::vector<std::uint32_t> columns, parted;  // working memory for one neuron
  std::vector<float> weights, parted_weights;
};

class WidePath {
 public:
  // No pattern yet: for a model file to fill.
  explicit WidePath(const LayerConfig& config) : config_(config) {}
  // Patterns and first weights of `neurons` labels from their samples in `train`, as `scale` makes them.
  WidePath(const LayerConfig& config, const Dataset& train, std::size_t neurons, int threads,
           const FeatureScale& scale = {});

  // z[a*lanes + s] += sum over the features f that sample s and pattern of ids[a] share of w * x_s[f].
  // Leaves where they met in `hits`.
  void forward(const BlockFeatures& features, std::span<const std::uint32_t> ids, std::size_t lanes, float* z,
               WideHits& hits) const;

  // Asks for the weights of neuron `id`: before forward(), or with its accumulators before update().
  void prefetch(std::uint32_t id, bool update) const;

  // Adagrad with an accumulator a weight on the weights of neuron `id`, which is active neuron `a` of the
  // block that `features` and `hits` are from, from its deltas d[lanes]; `listed` are the samples whose delta is not 0,
  // or none if nobody has made the list. Accumulators start at 1, the square
  // of one sample's largest gradient: a weight that is rarely met moves by its gradient, not by its sign.
  struct Step {
    float rate;     // the step's share of wide_rate, in [0, 1]
    float samples;  // in the batch: their number takes deltas of the mean loss to those of one sample
  };
  void update(const BlockFeatures& features, const WideHits& hits, std::uint32_t id, std::size_t a,
              std::size_t lanes, const float* d, std::span<const std::uint32_t> listed, Step step,
              std::vector<float>& gradients);

  // The whole storage. load() refuses patterns of other sizes.
  void save(StateWriter& out) const;
  void load(StateReader& in);

  std::size_t weights() const { return storage_.weights.size(); }
  std::size_t bytes() const;

  // What the model file keeps. Neuron i has the features and weights [offsets[i], offsets[i+1]), ascending.
  struct Storage {
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint32_t> features;
    std::vector<float> weights;
    std::vector<float> accumulators;  // of squared gradients, less the 1 they start at
  };
  const Storage& storage() const { return storage_; }
  Storage& storage() { return storage_; }

 private:
  LayerConfig config_;
  Storage storage_;
};

// The wide weights by feature: scores the neurons that a sample's own features speak for, without looking at
// the others. Immutable; one Scratch or Walk a thread.
class WidePostings {
 public:
  // find() leaves out features that are in the pattern of more neurons than this: they say little.
  static constexpr std::size_t kMostPostings = 1024;

  WidePostings(const WidePath& wide, std::size_t neurons, std::size_t features);

  // For full inference: all neurons in ascending order, a range at a time. start() begins with the block's
  // features; each add() then takes the neurons from where the last one ended up to `end`, and does
  // z[(n - first)*lanes + s] += the wide score of neuron n for sample s. The block's features must not change
  // in between.
  struct Walk {
    struct Feature {
      std::uint64_t at, end;  // its postings still to come
      std::uint32_t place;    // in the block: of its dense column, or of its list
      std::uint32_t length;   // entries of its list; 0: dense
    };
    std::vector<Feature> features;  // as the block counts them
  };
  void start(const BlockFeatures& features, Walk& walk) const;
  void add(const BlockFeatures& features, std::size_t first, std::size_t end, std::size_t lanes, float* z,
           Walk& walk) const;

  // z[n] += the wide score of every neuron n, for one sample.
  void add(const SparseRow& row, float* z) const;

  struct Scratch {
    std::vector<float> scores;           // by neuron, all zero between calls
    std::vector<std::uint32_t> touched;  // neurons of this sample
  };
  Scratch make_scratch() const;

  // Appends to `out` the `wanted` neurons of the largest wide score for one sample, in no order.
  void find(const SparseRow& row, std::size_t wanted, Scratch& scratch,
            std::vector<std::uint32_t>& out) const;

  std::size_t bytes() const;

 private:
  std::size_t neuron_count_;
  std::vector<std::uint64_t> offsets_;  // by feature
  AlignedArray<std::uint32_t> neurons_;  // of the postings, ascending for each feature
  AlignedArray<float> weights_;
};

}  // namespace slide

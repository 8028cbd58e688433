// k-nearest-neighbour (kNN) prediction: the training samples most similar to the input vote for their labels,
// and the vote is mixed with the network's probabilities.
//
// Similarity is the cosine of the scaled features, optionally weighted per feature
// (feature_weight_learning.h). Mixing the probability of a network with a kNN vote follows Khandelwal et al.,
// "Generalization through Memorization", 2020, equation 3 (there with distances between hidden activations in
// the exponent).
//
// Search: an inverted index yields candidates by partial scores, exact cosines rank the candidates. A feature
// of more than kPostings samples yields no candidates, so that the cost of a search is bounded. A sample
// whose features are all that frequent has no neighbours. Samples with dense columns only are compared
// exhaustively (dense_samples.h); where sparse features exist too, only these are used.
//
// Const methods are safe from any thread, with one Scratch per thread. set_mix() and set_feature_weights()
// must not run concurrently with any other call.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/config/config.h"
#include "engine/kernels/small_values.h"
#include "engine/knn/dense_samples.h"
#include "engine/statistics/feature_scale.h"
#include "engine/statistics/growth.h"
#include "engine/statistics/label_cooccurrence.h"

namespace slide {

class Neighbours {
 public:
  static constexpr std::size_t kPostings = 4096;  // max postings read per search
  static constexpr std::size_t kCandidates = 64;  // min number of candidates, or 3 per neighbour
  static constexpr float kMinValue = 0x1p-30f;    // smaller values count as 0; no product underflows
  // Similarity of the prior pseudo-neighbour, which votes for no label: smooths the vote where neighbours are
  // few or dissimilar.
  static constexpr double kPriorNeighbour = 0.75;

  // The samples of a model file: features and labels of sample i are those in [offsets[i], offsets[i + 1]),
  // ascending. Values are bfloat16, at least kMinValue in size; rows have unit length up to rounding.
  struct Storage {
    std::vector<std::uint64_t> feature_offsets{0};
    std::vector<std::uint32_t> features;
    std::vector<std::uint16_t> values;
    SmallValues small;  // int8 values of a quantized model, in place of `values`
    std::vector<std::uint64_t> label_offsets{0};
    std::vector<std::uint32_t> labels;
    // Feature weights in bfloat16, by feature, above 0; values are multiplied by them before cosines. Empty:
    // all 1.
    std::vector<std::uint16_t> feature_weights;
    DenseSamples dense;  // one row per sample, in place of features, for samples with dense columns only
    std::size_t samples() const { return feature_offsets.size() - 1; }
    std::span<const std::uint32_t> features_of(std::size_t sample) const {
      return std::span(features).subspan(feature_offsets[sample],
                                         feature_offsets[sample + 1] - feature_offsets[sample]);
    }
    std::span<const std::uint32_t> labels_of(std::size_t sample) const {
      return std::span(labels).subspan(label_offsets[sample],
                                       label_offsets[sample + 1] - label_offsets[sample]);
    }
    // Value at index `at` of all values, which belongs to `sample`.
    float value(std::size_t sample, std::uint64_t at) const {
      return small.in_bytes() ? small.byte(sample, at) : kernels::from_bf16(values[at]);
    }
    // 1 / length of a sample whose values are multiplied by `factors`, by feature; 0 for length 0.
    float norm_with(std::span<const float> factors, std::size_t sample) const;
    // norm_with() of all samples.
    void compute_norms(std::span<const float> factors, int threads, std::vector<float>& norms) const;
    // Converts int8 values to bfloat16.
    void widen();
  };

  // Stores the samples of `train` that have a label and a nonzero feature, scaled by `scale`; feature weights
  // are 1. Throws Error where there are 2^32 samples or more.
  Neighbours(const NeighbourConfig& config, const Dataset& train, const FeatureScale& scale, int threads = 1);
  // Takes the samples of a model file; feature ids are below `features`.
  Neighbours(const NeighbourConfig& config, Storage storage, std::size_t features);

  // Incremental training: the samples of `before` without the dropped labels (samples without labels are
  // dropped too), followed by the samples of `more`, scaled by `scale`. Where `more` begins with the samples
  // of `before`, or `before` ends with the samples of `more`, the shared samples are stored once. Feature
  // weights are 1. Throws Error as the constructor does.
  static Neighbours grown(const NeighbourConfig& config, const Storage* before, const Growth& growth,
                          const Dataset& more, const FeatureScale& scale);

  struct Vote {
    std::uint32_t label;
    float weight;  // in [0, 1]
  };

  // An entry of the query: value times feature weight at unit length, and this times the weight again.
  struct Entry {
    std::uint32_t feature;
    float value, product;
  };

  struct Scratch {
    std::vector<Entry> entries;
    std::vector<float> query;    // by feature, zero between calls
    std::vector<float> partial;  // by sample: partial scores, zero between calls
    // Weight per posting and index in `entries` of the entries whose postings are read, by decreasing weight.
    std::vector<std::pair<float, std::uint32_t>> by_weight;
    std::vector<std::uint32_t> touched;
    std::vector<float> scores, largest;  // partial scores of `touched`
    std::vector<std::uint64_t> keys;
    std::vector<std::pair<float, std::uint32_t>> similarity;  // cosines and samples
    std::vector<std::uint32_t> vote_slots;                    // hash table by label: 1 + index of its vote
    DenseSamples::Scratch dense;
  };
  Scratch make_scratch() const;
  static double scratch_bytes_of(double samples, double feature_count);
  // Whether samples are dense: then call find_similar() and vote_dense(), else vote().
  bool dense() const { return storage_.dense.columns() > 0; }

  // Appends the votes for labels of the nearest samples, ascending by label, without duplicates:
  //   weight[l] = sum of cos^power over neighbours with l / (kPriorNeighbour^power + sum of cos^power)
  // `row` is scaled as the network takes it; its ids are below features().
  void vote(const SparseRow& row, Scratch& scratch, std::vector<Vote>& votes) const;
  // Leaves the cosines above 0 of the row and its candidates in scratch.similarity, descending.
  void find(const SparseRow& row, Scratch& scratch) const;

  // The same for dense samples x [samples x ldx]: find_similar() searches for the whole batch, then
  // vote_dense() appends the votes of one sample of the batch.
  void find_similar(const float* x, std::size_t ldx, std::size_t samples, Scratch& scratch) const;
  void vote_dense(std::size_t sample, Scratch& scratch, std::vector<Vote>& votes) const;

  // Power mean ((1 - share) * probability^mean + share * weight^mean)^(1 / mean); increases with both.
  double mixed(double probability, double weight) const {
    if (config_.mean == 1.0) return probability + config_.share * (weight - probability);
    if (config_.mean != 0.5) return power_mean(probability, weight);
    const double root = (1.0 - config_.share) * std::sqrt(probability) + config_.share * std::sqrt(weight);
    return root * root;
  }
  // The factor by which mixed() scales a probability where the vote is 0.
  double share_without_vote() const { return std::pow(1.0 - config_.share, 1.0 / config_.mean); }

  // Changes the parameters of the vote: `share` in (0, 1], `power` and `cooccurrence` as in the
  // configuration. Values of share() and KnnVotes objects made before are stale afterwards. Not thread-safe.
  void set_mix(double share, double power, double cooccurrence);
  // Whether feature weights are learnt.
  bool learns() const { return config_.learn && !dense() && samples() > 1; }
  // Replaces the feature weights (see Storage). Not thread-safe.
  void set_feature_weights(std::vector<std::uint16_t> weights, int threads = 1);
  double share() const { return config_.share; }
  // Strength of label propagation along co-occurrence (inference/cooccurrence.h), and the
  // co-occurrence itself, computed on the first call (thread-safe).
  double cooccurrence_share() const { return config_.cooccurrence; }
  const LabelCooccurrence& cooccurrence() const;
  const Storage& storage() const { return storage_; }
  // The samples that have a feature, ascending.
  std::span<const std::uint32_t> samples_with(std::uint32_t feature) const {
    return posted_.span().subspan(offsets_[feature], count(feature));
  }
  std::size_t features() const { return offsets_.size() - 1; }
  std::size_t samples() const { return storage_.samples(); }
  std::size_t bytes() const;
  // Memory for the given numbers of samples, feature entries and label entries, without co-occurrence.
  // `dense`: number of columns, for dense samples.
  static double bytes_of(double samples, double feature_count, double feature_entries, double label_entries,
                         double dense = 0);
  // Additional memory with feature weights.
  static double weight_bytes_of(double samples, double feature_count);

  // Whether neighbours of this data set compare dense columns.
  static bool takes_dense(const Dataset& data) { return data.dense_count() > 0 && data.sparse_count() == 0; }

 private:
  double power_mean(double probability, double weight) const;
  void store_sparse(const Dataset& train, const FeatureScale& scale, int threads);
  void store_dense(const Dataset& train);
  void build_index(std::size_t features, int threads);
  void compute_norms(int threads);
  std::size_t candidates() const {
    return std::max<std::size_t>(kCandidates, 3 * std::size_t{config_.count});
  }
  // Appends the votes of the nearest samples in scratch.similarity, which is descending.
  void add_votes(Scratch& scratch, std::vector<Vote>& votes) const;
  std::uint64_t count(std::uint32_t feature) const { return offsets_[feature + 1] - offsets_[feature]; }
  // The steps of find(), in order.
  bool make_entries(const SparseRow& row, Scratch& scratch) const;
  void select_postings(Scratch& scratch) const;
  std::size_t add_partial_scores(Scratch& scratch) const;
  void keep_largest(std::size_t limit, std::size_t touched, Scratch& scratch) const;
  void rank_by_cosine(Scratch& scratch) const;
  float dot_with(std::uint32_t sample, const float* query) const;
  float factor_of(std::uint32_t feature) const { return factors_.empty() ? 1.0f : factors_[feature]; }

  NeighbourConfig config_;
  Storage storage_;
  std::vector<std::uint64_t> offsets_;         // posting lists by feature
  AlignedArray<std::uint32_t> posted_;         // samples that have the feature, ascending
  AlignedArray<std::uint16_t> posted_values_;  // their bfloat16 values
  AlignedArray<std::int8_t> posted_q_;         // or their int8 values
  std::vector<float> factors_;                 // storage_.feature_weights as floats
  std::vector<float> norms_;  // by sample: 1 / length with feature weights; empty without these
  struct Cooccurrence {
    std::once_flag counted;
    LabelCooccurrence labels;
  };
  std::unique_ptr<Cooccurrence> cooccurrence_ = std::make_unique<Cooccurrence>();
};

}  // namespace slide

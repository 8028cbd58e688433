// Nearest neighbours at inference: the training samples most like a sample vote for their own labels, and a
// share of each label's probability is their vote.
//
// What the layers have made of a sample they know by its features; which samples there were, and what came
// together in them, is lost. The neighbours remember. Similarity is the cosine of two samples' features as
// the network takes them, times weights that can be learnt (feature_weight_learning.h). The mean of a
// network's probability and a vote of nearest neighbours is that of Khandelwal et al., "Generalization
// through Memorization", 2020, equation 3 (there over hidden activations, with a distance in the exponent).
// Lists by feature bring candidates, whose exact cosines are then taken; features that more than kPostings
// samples have bring none, so that a search costs no more among many samples than among few. A sample without
// a rarer feature has no neighbours. Samples of dense columns alone are all compared (dense_samples.h); where
// there are sparse features besides, these alone are looked at.
//
// Immutable, safe from any thread; one Scratch a thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "datasets/dataset.h"
#include "engine/config/config.h"
#include "engine/features/dense_samples.h"
#include "engine/features/feature_scale.h"
#include "engine/features/growth.h"
#include "engine/features/label_cooccurrence.h"
#include "engine/features/small_values.h"

namespace slide {

class Neighbours {
 public:
  static constexpr std::size_t kPostings = 4096;  // entries of lists that a search goes through, at most
  static constexpr std::size_t kCandidates = 64;  // whose cosines are taken, at most, or 3 for each neighbour
  static constexpr float kMinValue = 0x1p-30f;    // less counts as 0, so that no product of two vanishes
  // Besides its neighbours, a stranger of this similarity votes, for no label: few or unlike ones say little.
  static constexpr double kPriorNeighbour = 0.75;

  // The samples of a model file: features and labels of sample i are those in [offsets[i], offsets[i + 1]),
  // ascending. Values are bfloat16, at least kMinValue in size; rows have unit length but for the rounding.
  struct Storage {
    std::vector<std::uint64_t> feature_offsets{0};
    std::vector<std::uint32_t> features;
    std::vector<std::uint16_t> values;
    SmallValues small;  // in their place, of a small model file: bytes
    std::vector<std::uint64_t> label_offsets{0};
    std::vector<std::uint32_t> labels;
    // Bfloat16, by feature, above 0: what values are multiplied by before cosines are taken. Empty: all 1.
    std::vector<std::uint16_t> feature_weights;
    DenseSamples dense;  // a row a sample, in place of features, where these are dense columns alone
    std::size_t samples() const { return feature_offsets.size() - 1; }
    // Value number `at`, which is one of `sample`.
    float value(std::size_t sample, std::uint64_t at) const {
      return small.in_bytes() ? small.byte(sample, at) : kernels::from_bf16(values[at]);
    }
    // 1 / the length of a sample whose values are multiplied by `factors`, by feature; 0 where it is 0.
    float norm_with(std::span<const float> factors, std::size_t sample) const;
    // That of all samples.
    void measure(std::span<const float> factors, int threads, std::vector<float>& norms) const;
    // Bytes become bfloat16 values.
    void widen();
  };

  // The samples of `train` that have labels, and a feature that is not 0, as `scale` makes them; features
  // weigh the same. Throws Error when they are too many for 32 bits.
  Neighbours(const NeighbourConfig& config, const Dataset& train, const FeatureScale& scale, int threads = 1);
  // Of a model file; `features` bounds the ids.
  Neighbours(const NeighbourConfig& config, Storage storage, std::size_t features);

  // The samples of `before`, less the labels that are gone and what has none left, and behind them those of
  // `more`, as `scale` makes them. Where `more` begins with those of `before`, or they end with it, these are
  // the same samples and stand once. Features weigh the same. Throws Error as above.
  static Neighbours grown(const NeighbourConfig& config, const Storage* before, const Growth& growth,
                          const Dataset& more, const FeatureScale& scale);

  struct Vote {
    std::uint32_t label;
    float weight;  // in [0, 1]
  };

  // A value of the sample that asks, times its feature's weight, at unit length, and times the weight again.
  struct Entry {
    std::uint32_t feature;
    float value, product;
  };

  struct Scratch {
    std::vector<Entry> entries;
    std::vector<float> query;                              // by feature, zero between calls
    std::vector<float> rough;                              // by sample, zero between calls
    std::vector<std::pair<float, std::uint32_t>> telling;  // places in `entries`
    std::vector<std::uint32_t> touched;
    std::vector<float> scores, largest;  // rough ones of these
    std::vector<std::uint64_t> keys;
    std::vector<std::pair<float, std::uint32_t>> similarity;  // and samples
    std::vector<std::uint32_t> places;                        // of votes, by hash of their labels
    DenseSamples::Scratch dense;
  };
  Scratch make_scratch() const;
  static double scratch_bytes_of(double samples, double feature_count);
  // Whether samples are known by dense columns: then find_similar() and vote_dense() are called, else vote().
  bool dense() const { return storage_.dense.columns() > 0; }

  // Appends the labels of the nearest samples to `votes`, ascending, each once:
  //   weight[l] = sum of cos^power over neighbours with l / (kPriorNeighbour^power + sum of cos^power)
  // `row` is as the network takes it; its ids are below the number of features.
  void vote(const SparseRow& row, Scratch& scratch, std::vector<Vote>& votes) const;
  // Leaves in scratch.similarity the cosines above 0 of the row and its candidates, most alike first.
  void find(const SparseRow& row, Scratch& scratch) const;

  // The same of samples with dense columns, x [samples x ldx]: find_similar() goes over them all, then
  // vote_dense() is called for each, by its number among them.
  void find_similar(const float* x, std::size_t ldx, std::size_t samples, Scratch& scratch) const;
  void vote_dense(std::size_t sample, Scratch& scratch, std::vector<Vote>& votes) const;

  // The power mean ((1 - share) * probability^mean + share * weight^mean)^(1 / mean), which grows with both.
  double mixed(double probability, double weight) const {
    if (config_.mean == 1.0) return probability + config_.share * (weight - probability);
    if (config_.mean != 0.5) return power_mean(probability, weight);
    const double root = (1.0 - config_.share) * std::sqrt(probability) + config_.share * std::sqrt(weight);
    return root * root;
  }
  // What mixed() multiplies a probability by where nobody votes for the label.
  double share_without_vote() const { return std::pow(1.0 - config_.share, 1.0 / config_.mean); }

  // Other votes of the same samples: `share` in (0, 1], `power` and `co-occurring labels` as in the
  // configuration. Not while others ask for votes; who has taken share() or a KnnVotes before makes it anew.
  void set_votes(double share, double power, double cooccurrence);
  // Whether what features weigh is to be learnt.
  bool learns() const { return config_.learn && !dense() && samples() > 1; }
  // Other weights of features, as Storage has them. Not while others ask for votes.
  void set_feature_weights(std::vector<std::uint16_t> weights, int threads = 1);
  double share() const { return config_.share; }
  // What labels lend to those they come with (inference/co-occurring labels.h), and which these are, which
  // the first to ask counts.
  double cooccurrence_share() const { return config_.cooccurrence; }
  const LabelCooccurrence& cooccurrence() const;
  const Storage& storage() const { return storage_; }
  // The samples that have a feature, ascending.
  std::span<const std::uint32_t> samples_with(std::uint32_t feature) const {
    return std::span(posted_).subspan(offsets_[feature], count(feature));
  }
  std::size_t features() const { return offsets_.size() - 1; }
  std::size_t samples() const { return storage_.samples(); }
  std::size_t bytes() const;
  // Of so many samples, with so many entries of features and of labels in all, but for co-occurring labels.
  // `dense`: columns, where samples are known by these.
  static double bytes_of(double samples, double feature_count, double feature_entries, double label_entries,
                         double dense = 0);
  // What weights of features add to it.
  static double weight_bytes_of(double samples, double feature_count);

  // Whether these samples are known by dense columns.
  static bool takes_dense(const Dataset& data) { return data.dense_count() > 0 && data.sparse_count() == 0; }

 private:
  double power_mean(double probability, double weight) const;
  void take_sparse(const Dataset& train, const FeatureScale& scale, int threads);
  void take_dense(const Dataset& train);
  void list_postings(std::size_t features, int threads);
  void measure(int threads);
  std::size_t candidates() const {
    return std::max<std::size_t>(kCandidates, 3 * std::size_t{config_.count});
  }
  // Votes of the nearest samples in scratch.similarity, most alike first.
  void add_votes(Scratch& scratch, std::vector<Vote>& votes) const;
  std::uint64_t count(std::uint32_t feature) const { return offsets_[feature + 1] - offsets_[feature]; }
  bool enter(const SparseRow& row, Scratch& scratch) const;
  void choose_lists(Scratch& scratch) const;
  std::size_t gather(Scratch& scratch) const;
  void keep_largest(std::size_t most, std::size_t touched, Scratch& scratch) const;
  float product_of(std::uint32_t sample, const float* query) const;
  void compare(Scratch& scratch) const;
  float factor_of(std::uint32_t feature) const { return factors_.empty() ? 1.0f : factors_[feature]; }

  NeighbourConfig config_;
  Storage storage_;
  std::vector<std::uint64_t> offsets_;  // by feature
  std::vector<std::uint32_t> posted_;   // samples that have it, ascending,
  std::vector<std::uint16_t> weights_;  // and its values there,
  std::vector<std::int8_t> q_;          // or in their place bytes
  std::vector<float> factors_;          // storage_.feature_weights
  std::vector<float> norms_;            // by sample: 1 / its length with them; empty where they are
  struct Cooccurrence {
    std::once_flag counted;
    LabelCooccurrence labels;
  };
  std::unique_ptr<Cooccurrence> cooccurrence_ = std::make_unique<Cooccurrence>();
};

}  // namespace slide

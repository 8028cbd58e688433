// Metrics of ranked predictions: P@k, nDCG@k, recall@k and the propensity-scored PSP@k and PSnDCG@k, as
// defined by the extreme classification repository (Bhatia et al. 2016) and Jain, Prabhu, Varma 2016, section
// 4; for recommendations also the hit rate and the mean reciprocal rank of the first hit (MRR).
//
// A Metrics object holds sums over its samples. Objects that are filled separately and merged in a fixed
// order give the same bits for any number of threads. One thread per object at a time; objects may share
// propensities.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace slide {

// Inverse propensities 1 / p_l = 1 + C (N_l + B)^-A with C = (log N - 1) (B + 1)^A, where N_l =
// label_frequencies[l] is the label's number of training samples and N = `samples` is their total. C is 0 for
// fewer than three samples. Immutable.
class InversePropensities {
 public:
  // Stores one value per frequency up to the largest, or one per label where there are fewer labels;
  // `label_frequencies` must outlive the object. Throws InputError unless a >= 0 and b > 0.
  InversePropensities(std::span<const std::uint32_t> label_frequencies, std::size_t samples, double a,
                      double b);
  // Given inverse propensities by label; `beyond`: of all further labels.
  explicit InversePropensities(std::vector<double> by_label, double beyond = 1.0)
      : values_(std::move(by_label)), beyond_(beyond) {}

  // number of labels
  std::size_t size() const { return frequencies_.empty() ? values_.size() : frequencies_.size(); }
  // A label beyond size() is one that training lacks: its frequency is 0.
  double operator[](std::size_t label) const {
    if (label >= size()) return beyond_;
    return values_[frequencies_.empty() ? label : frequencies_[label]];
  }

 private:
  std::span<const std::uint32_t> frequencies_;
  std::vector<double> values_;  // by frequency; by label where frequencies_ is empty
  double beyond_ = 1.0;
};

enum class LabelGroup : std::uint8_t { kHead, kMiddle, kTail };
inline constexpr std::array<LabelGroup, 3> kLabelGroups = {LabelGroup::kHead, LabelGroup::kMiddle,
                                                           LabelGroup::kTail};
// "head", "middle", "tail".
const char* name_of(LabelGroup group);

// Three groups of labels by training frequency, each with about a third of all (sample, label) pairs: in
// order of decreasing frequency, labels that begin before the first third of the pairs are head, before the
// second third middle, all others tail, including labels without samples. Labels of equal frequency are in
// one group. Immutable.
class LabelGroups {
 public:
  explicit LabelGroups(std::span<const std::uint32_t> label_frequencies);

  struct Part {
    std::size_t labels = 0;
    std::uint32_t min_samples = 0, max_samples = 0;  // min and max training samples of its labels
  };
  const Part& part(LabelGroup group) const { return parts_[std::size_t(group)]; }
  // Labels unknown to training are tail.
  LabelGroup of(std::uint32_t label) const {
    return label < groups_.size() ? groups_[label] : LabelGroup::kTail;
  }

 private:
  std::vector<LabelGroup> groups_;
  std::array<Part, 3> parts_;
};

class Metrics {
 public:
  using Groups = std::shared_ptr<const LabelGroups>;
  using Propensities = std::shared_ptr<const InversePropensities>;

  // `ks` in any order, each at least 1, else throws Error. No PSP without propensities (null or empty); a
  // label beyond their size has weight 1. No metrics by group without groups.
  explicit Metrics(std::vector<std::uint32_t> ks, Propensities inverse_propensities = nullptr,
                   Groups groups = nullptr);

  // Adds one sample. `predicted_ranked`: distinct labels, best first; fewer than k count as misses.
  // `true_labels_sorted`: distinct, ascending; a sample without labels counts as 0 in P, nDCG and recall.
  void add(std::span<const std::uint32_t> predicted_ranked,
           std::span<const std::uint32_t> true_labels_sorted);

  // Adds the samples of `other`. Throws Error unless both have the same ks and both or neither have
  // propensities.
  void merge(const Metrics& other);

  std::uint64_t samples() const { return samples_; }
  bool has_psp() const { return inverse_ != nullptr; }

  // Means over the samples, in [0, 1]; 0 without samples. Throws Error unless `k` is one of the
  // constructor's.
  double precision(std::uint32_t k) const;
  double ndcg(std::uint32_t k) const;
  double recall(std::uint32_t k) const;
  // Share of samples with a hit among the first k; mean of 1 / rank of the first hit, 0 without a hit.
  double hit_rate(std::uint32_t k) const;
  double mrr(std::uint32_t k) const;
  // Makes to_json(), names() and append_ratios() include hit rate and MRR, after the others.
  void include_first_hits() { first_hits_ = true; }
  bool has_first_hits() const { return first_hits_; }
  // Sum of propensity-weighted hits over the sum of their maxima, over all samples; 0 without propensities.
  double psp(std::uint32_t k) const;
  // Propensity-scored nDCG: per sample, the weighted discounted hits over the DCG of k hits at the first
  // ranks; summed over the samples, over the sum of their maxima.
  double psndcg(std::uint32_t k) const;

  bool has_groups() const { return groups_ != nullptr; }
  // Number of true labels of the group, over all samples.
  std::uint64_t positives(LabelGroup group) const { return positives_[std::size_t(group)]; }
  // Share of these among the first k predictions; 0 without positives or groups.
  double recall(std::uint32_t k, LabelGroup group) const;
  // Contribution of the group to precision(k): the groups' values sum to precision(k).
  double precision(std::uint32_t k, LabelGroup group) const;

  // {"p_at_1": .., "ndcg_at_1": .., "psp_at_1": .., "psndcg_at_1": .., "recall_at_1": ..}: each metric for
  // all k in turn.
  nlohmann::ordered_json to_json() const;

  // {"p_at_1_head": .., "recall_at_1_head": .., ..}: metrics by group; empty without groups.
  nlohmann::ordered_json groups_to_json() const;

  // A metric as the ratio of two sums over the samples.
  struct Ratio {
    double sum = 0, over = 0;
    double value() const { return over == 0 ? 0.0 : sum / over; }
  };
  // The names of to_json() in its order; append_ratios() appends their ratios in the same order. Each k must
  // occur once.
  std::vector<std::string> names() const;
  void append_ratios(std::vector<Ratio>& ratios) const;

 private:
  struct Sums {  // over samples, for one k
    std::uint64_t hits = 0;
    double ndcg = 0;
    double recall = 0;
    std::uint64_t hit = 0;  // samples with a hit
    double reciprocal = 0;
    double weighted_hits = 0;
    double weighted_best = 0;
    double weighted_ndcg = 0;
    double weighted_best_ndcg = 0;
    std::array<std::uint64_t, 3> group_hits{};
  };

  double weight(std::uint32_t label) const;
  void add_hits(Sums& sums, std::uint32_t k, std::span<const std::uint32_t> predicted,
                std::size_t labels) const;
  void sort_best_weights(std::span<const std::uint32_t> labels);
  const Sums& sums_of(std::uint32_t k) const;
  double mean(double sum) const { return samples_ == 0 ? 0.0 : sum / static_cast<double>(samples_); }

  std::vector<std::uint32_t> ks_;
  std::uint32_t largest_k_ = 0;
  Propensities inverse_;  // null or not empty
  Groups groups_;         // may be null
  bool first_hits_ = false;
  std::array<std::uint64_t, 3> positives_{};
  std::vector<Sums> sums_;  // parallel to ks_
  std::uint64_t samples_ = 0;
  std::vector<bool> is_hit_;  // scratch of add(): by rank
  std::vector<double> best_;  // scratch of add(): largest weights of the true labels, descending
};

}  // namespace slide

// Evaluation measures over ranked predictions: P@k, nDCG@k, recall@k and the propensity-scored PSP@k and
// PSnDCG@k, as defined by the extreme classification repository (Bhatia et al. 2016) and Jain, Prabhu, Varma
// 2016, section 4. For items that users may want, the hit rate and the mean reciprocal rank of the first hit
// (MRR) as well.
//
// A Metrics object holds sums over the samples it has seen. Objects filled apart and merged in a fixed order
// give the same bits whatever the number of threads. An object is for one thread at a time; different objects
// may be filled concurrently, also with the same propensities.
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

// 1 / p_l for every label: 1 + C (N_l + B)^-A with C = (log N - 1) (B + 1)^A, where N_l is
// `label_frequencies[l]`, the label's number of training samples, and N is `samples`, their total. With fewer
// than three samples C would be negative and is taken as 0. Immutable.
class InversePropensities {
 public:
  // The frequencies must outlive it: it is one number for each that occurs, not for each label. Throws
  // InputError unless a >= 0 and b > 0.
  InversePropensities(std::span<const std::uint32_t> label_frequencies, std::size_t samples, double a,
                      double b);
  // One of its own for every label.
  explicit InversePropensities(std::vector<double> by_label) : values_(std::move(by_label)) {}

  std::size_t size() const { return frequencies_.empty() ? values_.size() : frequencies_.size(); }  // labels
  double operator[](std::size_t label) const {
    return values_[frequencies_.empty() ? label : frequencies_[label]];
  }

 private:
  std::span<const std::uint32_t> frequencies_;
  std::vector<double> values_;  // by frequency, or where there are none by label
};

enum class LabelGroup : std::uint8_t { kHead, kMiddle, kTail };
inline constexpr std::array<LabelGroup, 3> kLabelGroups = {LabelGroup::kHead, LabelGroup::kMiddle,
                                                           LabelGroup::kTail};
// "head", "middle", "tail".
const char* name_of(LabelGroup group);

// Labels in three groups by how frequent they are in training, about a third of all training labels (pairs of
// a sample and its label) each: walking from the most frequent label on, those that begin before a third of
// the pairs has passed are head, before two thirds middle, the others tail, labels that never occur included.
// Labels of one frequency are in one group. Immutable.
class LabelGroups {
 public:
  explicit LabelGroups(std::span<const std::uint32_t> label_frequencies);

  struct Part {
    std::size_t labels = 0;
    std::uint32_t least = 0, most = 0;  // training samples of one of its labels
  };
  const Part& part(LabelGroup group) const { return parts_[std::size_t(group)]; }
  // A label that training does not know is tail.
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

  // `ks` in any order, each at least 1, else Error. Without propensities (null or empty) there is no PSP.
  // A label beyond the vector counts with weight 1. Without groups nothing is told by group.
  explicit Metrics(std::vector<std::uint32_t> ks, Propensities inverse_propensities = nullptr,
                   Groups groups = nullptr);

  // One sample. `predicted_ranked`: distinct labels, best first; where there are fewer than k the rest are
  // misses. `true_labels_sorted`: distinct, ascending; a sample without labels counts as zero in P, nDCG and
  // recall, and is counted in their denominators.
  void add(std::span<const std::uint32_t> predicted_ranked,
           std::span<const std::uint32_t> true_labels_sorted);

  // Adds the samples of `other`. Throws Error unless it has the same ks and both or neither have
  // propensities.
  void merge(const Metrics& other);

  std::uint64_t samples() const { return samples_; }
  bool has_psp() const { return inverse_ != nullptr; }

  // Means over the samples, in [0, 1]; 0 without samples. `k` must be one of the constructor's, else Error.
  double precision(std::uint32_t k) const;
  double ndcg(std::uint32_t k) const;
  double recall(std::uint32_t k) const;
  // The share of samples with a hit, and the mean of 1 / (rank of the first hit), 0 where there is none.
  double hit_rate(std::uint32_t k) const;
  double mrr(std::uint32_t k) const;
  // Has to_json(), names() and append_ratios() tell these two, too, behind the others.
  void tell_first_hits() { first_hits_ = true; }
  bool tells_first_hits() const { return first_hits_; }
  // Propensity-weighted hits over the best that is reachable on all samples together; 0 without propensities.
  double psp(std::uint32_t k) const;
  // The same of nDCG: each sample's hits, discounted by rank and weighted, over the DCG of as many hits at
  // the first ranks, summed over the samples; and that over the best that is reachable.
  double psndcg(std::uint32_t k) const;

  bool has_groups() const { return groups_ != nullptr; }
  // True labels of the group, over all samples.
  std::uint64_t positives(LabelGroup group) const { return positives_[std::size_t(group)]; }
  // Of these, the share among the first k predictions; 0 without positives or groups.
  double recall(std::uint32_t k, LabelGroup group) const;
  // What the group adds to precision(k): the sum over the groups is precision(k).
  double precision(std::uint32_t k, LabelGroup group) const;

  // {"p_at_1": .., "ndcg_at_1": .., "psp_at_1": .., "psndcg_at_1": .., "recall_at_1": ..}: each measure for
  // all k in turn.
  nlohmann::ordered_json to_json() const;

  // {"p_at_1_head": .., "recall_at_1_head": .., ..}: those of the groups; empty without groups.
  nlohmann::ordered_json groups_to_json() const;

  // A measure as two sums over the samples, which it is the ratio of.
  struct Ratio {
    double sum = 0, over = 0;
    double value() const { return over == 0 ? 0.0 : sum / over; }
  };
  // The names of to_json() in its order, and behind `ratios` what each is the ratio of. Each k must be there
  // once.
  std::vector<std::string> names() const;
  void append_ratios(std::vector<Ratio>& ratios) const;

 private:
  struct Sums {  // over samples, for one k
    std::uint64_t hits = 0;
    double ndcg = 0;
    double recall = 0;
    std::uint64_t hit = 0;  // samples with hits
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
  Groups groups_;         // or null
  bool first_hits_ = false;
  std::array<std::uint64_t, 3> positives_{};
  std::vector<Sums> sums_;  // parallel to ks_
  std::uint64_t samples_ = 0;
  std::vector<bool> is_hit_;  // scratch of add(): for each rank
  std::vector<double> best_;  // scratch of add(): largest weights of the true labels, descending
};

}  // namespace slide

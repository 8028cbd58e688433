// Per label: number of positives, predictions and true positives. Memory grows with the labels that occur,
// not with the largest id. Immutable, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/inference/ranking.h"

namespace slide {

// How often labels occur in training: samples of each label, and of all.
struct Popularity {
  std::span<const std::uint32_t> frequencies;
  std::uint64_t samples = 0;
};

class LabelCounts {
 public:
  struct Predicted {
    std::uint32_t all = 0, hits = 0;
  };

  // Counts for `labels` labels, among the first k predictions for each k of `ks`; larger labels are ignored.
  // O(n log n) for n labels of samples and predictions.
  LabelCounts(const Ranking& ranking, const Dataset& truth, std::vector<std::uint32_t> ks,
              std::size_t labels);

  std::size_t labels() const { return labels_; }
  const std::vector<std::uint32_t>& ks() const { return ks_; }
  // Number of samples with this label. This and predicted(): O(log n).
  std::uint32_t positives(std::size_t label) const;
  // Number of samples with this label among their first ks()[i] predictions (`all`), and of these the true
  // positives (`hits`).
  Predicted predicted(std::size_t label, std::size_t i) const;

  // Number of labels with at least one sample.
  std::size_t labels_with_samples() const { return with_samples_; }
  // Coverage: the share of labels_with_samples() labels with a true positive among the first ks()[i]
  // predictions of some sample. As in Schultheis, Wydmuch, Kotłowski, Babbar, Dembczyński, "Generalized test
  // utilities for long-tail performance in extreme multi-label classification", NeurIPS 2023, where it is a
  // share of all labels. 0 where no sample has a label.
  double coverage(std::size_t i) const;
  // Catalogue coverage: the share of all labels among the first ks()[i] predictions of some sample, true or
  // not (Herlocker, Konstan, Terveen, Riedl, "Evaluating collaborative filtering recommender systems", 2004,
  // section 4.3).
  double catalogue(std::size_t i) const;
  // Novelty: -log2 of the share of training samples (users) that have a label, as a mean over the first
  // ks()[i] predictions of all samples (Zhou and others, "Solving the apparent diversity-accuracy dilemma of
  // recommender systems", 2010: surprisal). Labels without a training sample count as if they had one.
  double novelty(std::size_t i, const Popularity& popularity) const;

 private:
  // The place of a label in ids_; ids_.size() where it does not occur.
  std::size_t place(std::size_t label) const;

  std::vector<std::uint32_t> ks_;
  std::size_t labels_;
  std::vector<std::uint32_t> ids_;  // of samples or predictions, ascending
  std::vector<std::uint32_t> positives_;
  std::vector<Predicted> predicted_;  // [ids, ks]
  std::size_t with_samples_ = 0;
};

// Calls take(name, value) for coverage_at_K, catalogue_at_K and, where `popularity` has samples,
// novelty_at_K, as `slide test --json` has them.
template <class Take>
void for_each_coverage(const LabelCounts& counts, const Popularity& popularity, const Take& take) {
  const std::vector<std::uint32_t>& ks = counts.ks();
  for (std::size_t i = 0; i < ks.size(); ++i)
    take("coverage_at_" + std::to_string(ks[i]), counts.coverage(i));
  for (std::size_t i = 0; i < ks.size(); ++i)
    take("catalogue_at_" + std::to_string(ks[i]), counts.catalogue(i));
  for (std::size_t i = 0; popularity.samples > 0 && i < ks.size(); ++i)
    take("novelty_at_" + std::to_string(ks[i]), counts.novelty(i, popularity));
}

}  // namespace slide

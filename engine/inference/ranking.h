// Rankings: the best labels of each sample, from a network or from external scores, and their metrics.
//
// Scores are the features of a Dataset: ids are labels, ascending, values are scores. True labels are the
// labels of a Dataset, possibly the same one. Functions are safe from any thread; results do not depend on
// the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/sidecar/label_pairs.h"
#include "engine/inference/metrics.h"
#include "engine/inference/top_k.h"

namespace slide {

// Immutable once filled.
class Ranking {
 public:
  // Allocates `samples` rows of at most `limit` labels.
  Ranking(std::size_t samples, std::size_t limit)
      : limit_(limit), labels_(samples * limit), counts_(samples) {}

  std::size_t size() const { return counts_.size(); }
  std::size_t limit() const { return limit_; }
  // Labels of a sample, best first.
  std::span<const std::uint32_t> operator[](std::size_t sample) const {
    return {labels_.data() + sample * limit_, counts_[sample]};
  }
  // Appends a label to the sample's row, unless it is full. Safe for concurrent calls with different samples.
  void add(std::size_t sample, std::uint32_t label) {
    if (counts_[sample] < limit_) labels_[sample * limit_ + counts_[sample]++] = label;
  }
  // Appends all labels of `best`, best first, without the labels of `pairs`.
  void add(std::size_t sample, std::span<const Prediction> best, const LabelPairs& pairs) {
    for (const Prediction& one : best) {
      if (!pairs.has(sample, one.label)) add(sample, one.label);
    }
  }

 private:
  std::size_t limit_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::uint32_t> counts_;
};

// The `limit` labels of highest score of each sample; ties by lower label.
Ranking ranked(const Dataset& scores, std::size_t limit, int threads);

// The same, but ties by `order`, which has the position of each score in its row, all rows in a row: for
// scores read from text, whose six digits tie labels that the writer had ranked. With an empty `order` as
// ranked().
Ranking ranked_in_order(const Dataset& scores, const std::vector<std::uint32_t>& order, std::size_t limit,
                        int threads);

// Metrics of the ranking over all samples of `truth`; `empty`: a Metrics without samples, of the parameters
// to use.
Metrics measured(const Ranking& ranking, const Dataset& truth, Metrics empty);

// `scores` without the (sample, label) pairs of `pairs`.
Dataset scores_without(const Dataset& scores, const LabelPairs& pairs);

// Weighted sum of the scores of several data sets; a missing score counts as 0. Throws Error unless all have
// the same number of samples.
Dataset weighted_sum(std::span<const Dataset> scores, std::span<const double> weights);

}  // namespace slide

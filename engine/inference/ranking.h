// The best labels of each sample, from a network or from scores that anybody made, and what is measured of
// them.
//
// Scores are the features of a Dataset: the labels that have a score, ascending, and the scores. True labels
// are the labels of a Dataset, which may be the same one. Functions are safe to call from any thread; results
// do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/label_pairs.h"
#include "engine/inference/metrics.h"
#include "engine/inference/top_k.h"

namespace slide {

// Immutable once filled.
class Ranking {
 public:
  // Room for `samples` samples of `most` labels at most.
  Ranking(std::size_t samples, std::size_t most) : most_(most), labels_(samples * most), counts_(samples) {}

  std::size_t size() const { return counts_.size(); }
  std::size_t most() const { return most_; }
  // Best first.
  std::span<const std::uint32_t> operator[](std::size_t sample) const {
    return {labels_.data() + sample * most_, counts_[sample]};
  }
  // Puts a label behind those of the sample, unless there are `most`. Different samples may be filled
  // concurrently.
  void add(std::size_t sample, std::uint32_t label) {
    if (counts_[sample] < most_) labels_[sample * most_ + counts_[sample]++] = label;
  }
  // The same of all of these, best first, but for the labels of `pairs`.
  void add(std::size_t sample, std::span<const Prediction> best, const LabelPairs& pairs) {
    for (const Prediction& one : best) {
      if (!pairs.has(sample, one.label)) add(sample, one.label);
    }
  }

 private:
  std::size_t most_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::uint32_t> counts_;
};

// The labels of each sample with the `most` highest scores, equal ones by label.
Ranking ranked(const Dataset& scores, std::size_t most, int threads);

// The measures of `none`, a Metrics without samples, over all samples of `truth`, which are those of the
// ranking.
Metrics measured(const Ranking& ranking, const Dataset& truth, Metrics none);

// `scores` without those of these pairs.
Dataset scores_without(const Dataset& scores, const LabelPairs& pairs);

// The sum of all scores times the weights of their data sets; a label without a score adds nothing. All have
// as many samples, else Error.
Dataset weighted_sum(std::span<const Dataset> scores, std::span<const double> weights);

}  // namespace slide

// Decisions: the labels that a sample is given (scores that reach their thresholds, or the best k), and the
// precision, recall and F1 of decisions. Scores and true labels as in ranking.h; a label without a score is
// not given. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/inference/ranking.h"
#include "engine/inference/thresholds.h"

namespace slide {

// Precision = hits / predicted, recall = hits / true labels, F1 = 2 hits / (predicted + true labels), the
// harmonic mean of both; 0 where the divisor is.
struct Rates {
  double precision = 0, recall = 0, f1 = 0;
};

// Labels given, how many of them are true, and true labels.
struct DecisionCounts {
  std::uint64_t predicted = 0, hits = 0, positives = 0;

  Rates rates() const;
};

struct Decisions {
  Rates micro;    // over all (sample, label) pairs
  Rates macro;    // means over the labels that are true or given somewhere
  Rates samples;  // means over the samples; 0 for a sample with neither true nor given labels
  std::vector<DecisionCounts> labels;  // of each label
};

// Calls visit(name, value) for each rate by its name in `slide evaluate --json`, precision_micro to
// f1_samples.
template <class Visit>
void for_each_rate(const Decisions& decisions, const Visit& visit) {
  using Mean = std::pair<const char*, const Rates*>;
  for (const auto& [mean, rates] : {Mean{"micro", &decisions.micro}, Mean{"macro", &decisions.macro},
                                    Mean{"samples", &decisions.samples}}) {
    visit(std::string("precision_") + mean, rates->precision);
    visit(std::string("recall_") + mean, rates->recall);
    visit(std::string("f1_") + mean, rates->f1);
  }
}

// Whether a score, as a float that was read or computed, reaches a threshold.
inline bool reaches_float(float score, double threshold) {
  return score >= static_cast<float>(threshold);
}

// Counts of one sample.
DecisionCounts decided(const Dataset& scores, const Dataset& truth, std::size_t sample,
                       const Thresholds& thresholds);

// O(scores). `labels` holds as many as scores and truth together have.
Decisions decide(const Dataset& scores, const Dataset& truth, const Thresholds& thresholds);
// Decisions that give each sample the first k labels of its ranking; `labels`: min number of labels.
Decisions decide_best(const Ranking& ranking, const Dataset& truth, std::uint32_t k, std::size_t labels);

}  // namespace slide

// Ranking that favours rare labels, without training anew: by probability times the inverse propensity of the
// label to a power from 0 to 1. 1 ranks by the expected gain in PSP@k (Jain, Prabhu, Varma, "Extreme
// multi-label loss functions for recommendation, tagging, ranking and other missing label applications", KDD
// 2016, section 4: p_l is the propensity of InversePropensities); 0 by probability, which ranks for P@k.
//
// Immutable, safe from any thread with one Scratch each.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/inference/metrics.h"
#include "engine/inference/top_k.h"
#include "engine/network/loss_kind.h"

namespace slide {

// Labels that are ranked anew: the 100 most probable ones, or as many as are wanted. Weights differ by a
// factor of at most about 15, so that labels after them hardly reach the first places: the first five of
// 24,945 test samples differ in one from those with 200 (configs/experiments/labels.md).
inline constexpr std::size_t kRareRanked = 100;

class RareRanking {
 public:
  using Scratch = std::vector<std::pair<double, Prediction>>;

  RareRanking(Metrics::Propensities inverse_propensities, double power)
      : inverse_(std::move(inverse_propensities)), power_(power) {}

  // Number of labels to retrieve for the k best after ranking.
  static std::size_t kept_for(const RareRanking* ranking, std::size_t k) {
    return ranking == nullptr || k > kRareRanked ? k : kRareRanked;
  }

  // Sorts by log P + power * log(1 / p_l), ties by lower label; P is the probability that probability.h has
  // for the score under `loss`, under a normalised loss up to a factor of the sample. Scores stay.
  void rank(LossKind loss, std::span<Prediction> best, Scratch& scratch) const;

 private:
  Metrics::Propensities inverse_;
  double power_;
};

// nullptr where power is 0.
std::shared_ptr<const RareRanking> make_rare_ranking(Metrics::Propensities inverse_propensities,
                                                     double power);

}  // namespace slide

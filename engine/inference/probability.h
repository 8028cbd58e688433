// Scores and probabilities of labels, of which each loss has its own notion. Pure functions.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "engine/config/config.h"

namespace slide {

// Whether probabilities need scores of InferenceOptions::log_softmax.
inline bool needs_log_softmax(LossKind loss) {
  return loss == LossKind::kSoftmax;
}

// The probability of a label in a network trained with `loss`, from its score: the logit of its own yes or
// no, or under softmax the logarithm of its share.
inline double probability_of(LossKind loss, double score) {
  return needs_log_softmax(loss) ? std::exp(score) : 1.0 / (1.0 + std::exp(-score));
}

// The other way round; finite.
double score_of(LossKind loss, double probability);

// The log-odds of a fixed share of a small probability p, without a logarithm:
//   log(share p / (1 - share p)) = logit(p) + log(share) + sum over n of (share^n - 1) p^n / n
// by the series of log(1 - x). Immutable.
class LogOddsOfShare {
 public:
  explicit LogOddsOfShare(double share);

  // Sets `odds` to what score_of(LossKind::kSigmoid, share * p) is as a float, for p of this logit. False,
  // and it stays as it is, where that is not certain.
  bool find(double logit, double p, float& odds) const {
    constexpr double kMostP = 0x1p-6, kLeastP = 0x1p-1000;  // terms beyond the last vanish, all are normal
    if (!(p < kMostP && p > kLeastP)) return false;
    double sum = terms_[kTerms - 1];
    for (std::size_t n = kTerms - 1; n-- > 0;) sum = sum * p + terms_[n];
    const double value = logit + sum;
    const double error = kError * std::fabs(value);
    const auto lower = static_cast<float>(value - error), upper = static_cast<float>(value + error);
    odds = lower;
    return lower == upper;
  }

 private:
  static constexpr std::size_t kTerms = 9;
  static constexpr double kError = 1e-12;  // of sums and logarithms in doubles, many times over
  std::array<double, kTerms> terms_;       // of p^0, p^1, ...
};

}  // namespace slide

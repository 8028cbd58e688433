// Scores and probabilities of labels, of which each loss has its own notion. Pure functions.
#pragma once

#include <algorithm>
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

// The same of `count` scores, p[i] of scores[i], to a few units in the last place.
void probabilities_of(LossKind loss, const float* scores, std::size_t count, double* p);

// The other way round; finite.
double score_of(LossKind loss, double probability);

// log(e^a + e^b); of nothing, minus infinity, too.
inline double log_of_sum(double a, double b) {
  const double larger = std::max(a, b), smaller = std::min(a, b);
  return smaller == larger ? larger + std::log(2.0) : larger + std::log1p(std::exp(smaller - larger));
}

// The log-odds of a fixed share of small probabilities p, without a logarithm:
//   log(share p / (1 - share p)) = logit(p) + log(share) + sum over n > 0 of (share^n - 1) p^n / n
// by the series of log(1 - x). Immutable.
class LogOddsOfShare {
 public:
  static constexpr float kMaxLogit = -6.0f, kMinLogit = -80.0f;  // of the small probabilities

  explicit LogOddsOfShare(double share);

  // Sets `odds` to what score_of(LossKind::kSigmoid, share * p) is as a float, for p of this logit, of which
  // `rough_p` differs by 2^-18 of itself at most. False where that leaves the float uncertain.
  bool find(float logit, float rough_p, float& odds) const {
    const double p = rough_p;
    const double value = logit + (terms_[0] + p * (terms_[1] + p * (terms_[2] + p * terms_[3])));
    const double error = 0x1p-18 * p - 1e-12 * value;  // of p; of sums and logarithms, many times over
    odds = static_cast<float>(value - error);
    return odds == static_cast<float>(value + error);
  }

 private:
  static constexpr std::size_t kTerms = 4;
  std::array<double, kTerms> terms_;  // of p^0, p^1, ...; further ones are lost in the error
};

}  // namespace slide

// Conversions between scores and probabilities of labels, for each loss. Pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "engine/network/loss_kind.h"

namespace slide {

// Probability of a label from its score, in a network trained with `loss`. A normalised loss: exp(score) of a
// log-probability (InferenceOptions::log_softmax), which rounding of large logits may leave above 0. Else the
// sigmoid of a logit.
inline double probability_of(LossKind loss, double score) {
  return is_normalised(loss) ? std::min(std::exp(score), 1.0) : 1.0 / (1.0 + std::exp(-score));
}

// The same for `count` scores: p[i] from scores[i], accurate to a few units in the last place.
void probabilities_of(LossKind loss, const float* scores, std::size_t count, double* p);

// The inverse of probability_of(), clipped to finite values.
double score_of(LossKind loss, double probability);

// log(e^a + e^b); arguments may be minus infinity.
inline double log_of_sum(double a, double b) {
  const double larger = std::max(a, b), smaller = std::min(a, b);
  return smaller == larger ? larger + std::log(2.0) : larger + std::log1p(std::exp(smaller - larger));
}

// Log-odds of a fixed share of a small probability p, without computing a logarithm:
//   log(share p / (1 - share p)) = logit(p) + log(share) + sum over n > 0 of (share^n - 1) p^n / n
// by the series of log(1 - x). Immutable.
class LogOddsOfShare {
 public:
  static constexpr float kMaxLogit = -6.0f, kMinLogit = -80.0f;  // range of the logit of p

  explicit LogOddsOfShare(double share);

  // Sets `odds` to the float value of score_of(LossKind::kSigmoid, share * p), for p with this logit;
  // `rough_p` approximates p with relative error at most 2^-18. Returns false where this leaves the float
  // uncertain.
  bool find(float logit, float rough_p, float& odds) const {
    const double p = rough_p;
    const double value = logit + (terms_[0] + p * (terms_[1] + p * (terms_[2] + p * terms_[3])));
    // error of p; of sums and logarithms, with a wide margin
    const double error = 0x1p-18 * p - 1e-12 * value;
    odds = static_cast<float>(value - error);
    return odds == static_cast<float>(value + error);
  }

 private:
  static constexpr std::size_t kTerms = 4;
  std::array<double, kTerms> terms_;  // of p^0, p^1, ...; further terms are below the error
};

}  // namespace slide

// Scores and probabilities of labels, of which each loss has its own notion. Pure functions.
#pragma once

#include <cmath>

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

}  // namespace slide

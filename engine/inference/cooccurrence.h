// Label propagation along co-occurrence: the top labels of a sample raise the labels that co-occur with them
// in training.
//
// Each label z of the top kPropagatingLabels propagates share * P(z) * P(y | z) to each co-occurring label y.
// A label combines its own probability P with the three largest propagated ones by noisy-or, as independent
// causes (Pearl, "Probabilistic Reasoning in Intelligent Systems", 1988, section 4.3.2):
//   1 - P'(y) = (1 - P(y)) * product over these z of (1 - share * P(z) * P(y | z))
//
// Functions are safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "engine/config/config.h"
#include "engine/inference/top_k.h"
#include "engine/knn/neighbours.h"

namespace slide {

// Number of top labels that propagate and receive; other labels keep their score and rank after them.
inline constexpr std::size_t kPropagatingLabels = 7;

// Returns `neighbours` where their labels propagate, and computes their label co-occurrence; else nullptr.
// `neighbours` may be nullptr.
const Neighbours* knn_with_cooccurrence(const Neighbours* neighbours);
// Number of labels to retrieve per sample to obtain the k best after propagation. `cooccurrence_knn` is the
// result of knn_with_cooccurrence().
inline std::size_t kept_for_cooccurrence(const Neighbours* cooccurrence_knn, std::size_t k) {
  return cooccurrence_knn == nullptr ? k : std::max(k, kPropagatingLabels);
}

// `best`: the top labels, best first, or all labels, with finite scores; probability.h maps scores to
// probabilities under `loss`. Replaces each score by the score of its probability P' after propagation, and
// sorts again.
void propagate_cooccurrence(const Neighbours& cooccurrence_knn, LossKind loss, std::span<Prediction> best);

}  // namespace slide

// Labels that come with other likely ones are likelier for it.
//
// Of the best labels of a sample, each lends a share of its probability to those that come with it in the
// training samples, times how often they do; each label takes what the three lend that lend most, as causes
// of which each may bring it about on its own, beside its own probability P (noisy or; Pearl, "Probabilistic
// Reasoning in Intelligent Systems", 1988, section 4.3.2):
//   1 - P'(y) = (1 - P(y)) times the product over these z of 1 - share * P(z) * P(y | z)
// Functions may be called from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "engine/config/config.h"
#include "engine/features/neighbours.h"
#include "engine/inference/top_k.h"

namespace slide {

// The best labels of a sample that lend and take; others stay as they are, behind them.
inline constexpr std::size_t kPropagatingLabels = 7;

// `neighbours`, which may be nullptr, where labels of theirs lend to others, whose co-occurring labels are
// counted then; else nullptr.
const Neighbours* knn_with_cooccurrence(const Neighbours* neighbours);
// How many labels are to be found of a sample for the k best to be among them. `cooccurrence_knn`: of
// knn_with_cooccurrence().
inline std::size_t kept_for_cooccurrence(const Neighbours* cooccurrence_knn, std::size_t k) {
  return cooccurrence_knn == nullptr ? k : std::max(k, kPropagatingLabels);
}

// `best`: the best labels, best first, or all there are, with their finite scores, whose probabilities under
// `loss` they are (probability.h). Scores and order become those of P'.
void propagate_cooccurrence(const Neighbours& cooccurrence_knn, LossKind loss, std::span<Prediction> best);

}  // namespace slide

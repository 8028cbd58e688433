// Fitted initialisation of a one-vs-all output layer with a linear term. Before the first training step, the
// logit of label l for sample x is
//
//   scale * <s_l, x> / |s_l| + prior * ln((n_l + 1) / (n - n_l + 1)) + offset
//
// with s_l the sum of its n_l training samples, of n in all: logistic regression with three parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "datasets/rows/dataset.h"
#include "engine/network/loss.h"
#include "engine/statistics/feature_scale.h"
#include "engine/wide/item_ridge.h"

namespace slide {

struct OutputInit {
  double scale = 0.0;   // length of a neuron's initial linear-term weights
  double prior = 0.0;   // factor of the log-odds of the label frequency in the initial bias
  double offset = 0.0;  // constant added to all initial biases
};

// Fits the parameters on a few blocks of training samples, against the labels of the same block and uniform
// negatives, by Newton's method. A sample is left out of the sums of its own labels. `negatives`: uniform
// negative samples per training sample. `items`: item weights w_l; <w_l, x> then replaces <s_l, x> / |s_l|;
// or nullptr. Returns nullopt where too few samples share a label with another sample. Pure function; the
// result does not depend on `threads`.
std::optional<OutputInit> fit_output_init(const Dataset& train,
                                          std::span<const std::uint32_t> label_frequencies,
                                          const FeatureScale& scale, double negatives, std::uint64_t seed,
                                          int threads, const ItemWeights* items = nullptr);

}  // namespace slide

// Where a one-vs-all output layer with a wide path starts: before the first step the logit of label l for
// sample x is
//
//   scale * <s_l, x> / |s_l| + prior * ln((n_l + 1) / (n - n_l + 1)) + offset
//
// with s_l the sum of its n_l training samples, of n in all: a logistic model of three numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "datasets/dataset.h"
#include "engine/features/feature_scale.h"
#include "engine/wide/item_ridge.h"

namespace slide {

struct OutputStart {
  double scale = 0.0;   // length of a neuron's first wide weights
  double prior = 0.0;   // share of the log-odds of the label's frequency in its first bias
  double offset = 0.0;  // what all first biases have besides
};

// ln((with + 1) / (without + 1)) of a label that `with` of `samples` samples carry.
double log_odds(std::uint32_t with, std::size_t samples);

// The start that says best which labels a few blocks of training samples have, against the labels of the same
// block and uniform ones: logistic regression by Newton's method, with a sample left out of the sums of its
// own labels, since its similarity to itself says nothing. `negatives`: uniform negatives that a sample meets
// in training. None where too few samples have a label that another sample has, too. A pure function of its
// arguments but for `threads`.
// `items`: nullptr, or weights that take the place of the sums: <w_l, x> of that of <s_l, x> / |s_l|.
std::optional<OutputStart> fit_output_start(const Dataset& train,
                                            std::span<const std::uint32_t> label_frequencies,
                                            const FeatureScale& scale, double negatives, std::uint64_t seed,
                                            int threads, const ItemWeights* items = nullptr);

}  // namespace slide

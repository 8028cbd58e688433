// Logit margins of labels, for labels whose initial linear-term weights are the sum of their own samples.
#pragma once

#include <cstddef>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/statistics/feature_scale.h"

namespace slide {

// The margin of label l: how much the initial linear term overrates its training samples x because they are
// part of the sum from which it starts, on average over x,
//
//   length * mean (<s_l, x> / |s_l| - <s_l - x, x> / |s_l - x|),
//
// with s_l the sum of the label's samples and `length` the length of its initial weights. The second term is
// 0 for the only sample of a label. Training subtracts the margin from the logits of a sample's own labels:
// on average they become leave-one-out estimates (Stone, "Cross-Validatory Choice and Assessment of
// Statistical Predictions", 1974). Returns 0 for labels without samples. Takes the time of the sums of all
// labels. Pure function; the result does not depend on `threads`.
std::vector<float> label_margins(const Dataset& train, std::size_t labels, const FeatureScale& scale,
                                 double length, int threads);

}  // namespace slide

// Weights of samples in training. Pure functions, safe from any thread.
#pragma once

#include <span>

#include "datasets/dataset.h"

namespace slide {

// The samples of `data` with these weights, one for each, divided by their mean; samples of weight 0 are left
// out. Throws InputError for weights that are negative or not finite, and where all are 0.
Dataset weighted_rows(const Dataset& data, std::span<const float> weights);

}  // namespace slide

// Reads rows of weights whatever they are stored as. Pure function.
#pragma once

#include <cstddef>

#include "lsh/query.h"

namespace slide::lsh {

// Row `id`, of `dim` weights, in fp32: where it lies, or widened into buffer[dim].
const float* fetch_row(const WeightRows& rows, std::size_t dim, std::size_t id, float* buffer);

}  // namespace slide::lsh

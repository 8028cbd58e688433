// Reads weight rows of any storage type as fp32. Pure function, safe from any thread.
#pragma once

#include <cstddef>

#include "lsh/query.h"

namespace slide::lsh {

// Row `id` as fp32[dim]: a pointer to the row itself, or to buffer[dim] with the widened row. O(dim).
const float* fetch_row(const WeightRows& rows, std::size_t dim, std::size_t id, float* buffer);

}  // namespace slide::lsh

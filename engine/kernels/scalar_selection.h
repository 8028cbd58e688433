// Plain C++ of the kernels that select (simd_selection.h), their specification. Pure functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/kernels/kernels.h"

namespace slide::kernels {
namespace {

// Lists the entries of z [rows x lanes] above the threshold of their column.
inline size_t select_above(const float* z, size_t rows, size_t lanes, const float* threshold,
                           uint32_t* hits) {
  size_t count = 0;
  for (size_t a = 0; a < rows; ++a) {
    for (size_t b = 0; b < lanes; ++b) {
      if (z[a * lanes + b] > threshold[b]) hits[count++] = static_cast<uint32_t>(a * lanes + b);
    }
  }
  return count;
}

// How far row a is behind the best row of a column, in the column where this is least.
inline void behind_best(const float* z, size_t rows, size_t lanes, size_t samples, float* smallest) {
  for (size_t b = 0; b < samples; ++b) {
    float best = -std::numeric_limits<float>::infinity();
    for (size_t a = 0; a < rows; ++a) best = best < z[a * lanes + b] ? z[a * lanes + b] : best;
    for (size_t a = 0; a < rows; ++a) {
      const float behind = best - z[a * lanes + b];
      if (b == 0 || behind < smallest[a]) smallest[a] = behind;
    }
  }
}

// SimHash codes of each sample b: the signs of its k projections z[j, b] as bits of one word.
inline void pack_signs(const float* z, const float* scale, const float* extra, size_t k, size_t lanes,
                       uint32_t* prints, uint32_t* nearest) {
  for (size_t b = 0; b < lanes; ++b) {
    float smallest = 0.0f;
    uint32_t print = 0, nearest_bit = 0;
    for (size_t j = 0; j < k; ++j) {
      const float v = scale == nullptr ? z[j * lanes + b] : z[j * lanes + b] + scale[j] * extra[b];
      const uint32_t bit = uint32_t{1} << j;
      if (v >= 0.0f) print |= bit;
      if (j > 0 && !(std::fabs(v) < smallest)) continue;
      smallest = std::fabs(v);
      nearest_bit = bit;
    }
    prints[b] = print;
    if (nearest != nullptr) nearest[b] = nearest_bit;
  }
}

// Stochastic gradient sparsification in place, and the list of the entries that are not 0.
inline size_t sparsify(float* d, size_t n, float threshold, uint32_t noise, uint32_t* places, float* values) {
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    const float u = static_cast<float>(rounding_bits(noise, i) >> 9) * 0x1p-23f;  // uniform in [0, 1)
    const float size = std::fabs(d[i]);
    if (size < threshold) d[i] = size > threshold * u ? std::copysign(threshold, d[i]) : 0.0f;
    if (d[i] == 0.0f) continue;
    places[count] = static_cast<uint32_t>(i);
    values[count++] = d[i];
  }
  return count;
}

}  // namespace
}  // namespace slide::kernels

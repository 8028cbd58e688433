// Dot product, sum and scaled addition of vectors; transposition. Whole registers of kWidth floats first,
// then the rest one by one.
#pragma once

#include "engine/kernels/simd.h"

namespace slide::kernels {
namespace {

// Four independent sums hide the latency of additions.
template <class Arch>
float dot(const float* x, const float* y, size_t n) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> acc[4] = {Vec<Arch>(0.0f), Vec<Arch>(0.0f), Vec<Arch>(0.0f), Vec<Arch>(0.0f)};
  size_t k = 0;
  for (; k + 4 * N <= n; k += 4 * N) {
    SLIDE_UNROLL
    for (size_t c = 0; c < 4; ++c) {
      acc[c] = xsimd::fma(Vec<Arch>::load_unaligned(x + k + c * N), Vec<Arch>::load_unaligned(y + k + c * N),
                          acc[c]);
    }
  }
  for (size_t c = 0; k + N <= n; k += N, c ^= 1) {
    acc[c] = xsimd::fma(Vec<Arch>::load_unaligned(x + k), Vec<Arch>::load_unaligned(y + k), acc[c]);
  }
  float sum = sum_of<Arch>((acc[0] + acc[1]) + (acc[2] + acc[3]));
  for (; k < n; ++k) sum += x[k] * y[k];
  return sum;
}

template <class Arch>
float sum(const float* x, size_t n) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> acc(0.0f);
  size_t k = 0;
  for (; k + N <= n; k += N) acc += Vec<Arch>::load_unaligned(x + k);
  float total = sum_of<Arch>(acc);
  for (; k < n; ++k) total += x[k];
  return total;
}

template <class Arch>
void axpy(float scale, const float* x, size_t n, float* y) {
  constexpr size_t N = kWidth<Arch>;
  const Vec<Arch> factor(scale);
  size_t k = 0;
  for (; k + N <= n; k += N) {
    xsimd::fma(factor, Vec<Arch>::load_unaligned(x + k), Vec<Arch>::load_unaligned(y + k))
        .store_unaligned(y + k);
  }
  for (; k < n; ++k) y[k] += scale * x[k];
}

inline void transpose(const float* in, size_t ldi, size_t rows, size_t columns, size_t ldo, float* out) {
  constexpr size_t kTile = 16;
  for (size_t r0 = 0; r0 < rows; r0 += kTile) {
    const size_t r1 = smaller(r0 + kTile, rows);
    for (size_t c = 0; c < columns; ++c) {
      for (size_t r = r0; r < r1; ++r) out[c * ldo + r] = in[r * ldi + c];
    }
  }
}

}  // namespace
}  // namespace slide::kernels

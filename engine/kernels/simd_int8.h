// Rows of bytes (int8.h): widened, added up, multiplied with one vector. Bytes become floats in registers; a
// row's power of two is multiplied in once, which changes no rounding.
#pragma once

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_bf16.h"

namespace slide::kernels {
namespace {

// As many bytes as a register has floats.
template <class Arch>
Vec<Arch> load_int8(const std::int8_t* q) {
  alignas(64) float x[kWidth<Arch>];
  for (size_t i = 0; i < kWidth<Arch>; ++i) x[i] = static_cast<float>(q[i]);
  return Vec<Arch>::load_aligned(x);
}

// int8_factor() of int8.h, and where a row begins: those are shared inline functions.
inline float factor_of(const Int8Rows& w, size_t r) {
  const uint32_t bits = static_cast<uint32_t>(w.exponents[r] + 127) << 23;
  float factor;
  __builtin_memcpy(&factor, &bits, sizeof factor);
  return factor;
}

template <class Arch>
void widen_int8(const Int8Rows& w, size_t r, size_t n, float* x) {
  constexpr size_t N = kWidth<Arch>;
  const std::int8_t* q = w.q + r * w.stride;
  const float factor = factor_of(w, r);
  size_t k = 0;
  for (; k + N <= n; k += N) (Vec<Arch>(factor) * load_int8<Arch>(q + k)).store_unaligned(x + k);
  for (; k < n; ++k) x[k] = factor * static_cast<float>(q[k]);
}

template <class Arch>
void pair_int8(const Int8Rows& w, size_t r, size_t n, uint32_t* pairs) {
  constexpr size_t N = kWidth<Arch>;
  const std::int8_t* q = w.q + r * w.stride;
  const Vec<Arch> factor(factor_of(w, r));
  for (size_t k = 0; k < n; k += 2 * kPairs) {
    SLIDE_UNROLL
    for (size_t v = 0; v < kPairs; v += N) {
      to_pairs<Arch>(factor * load_int8<Arch>(q + k + v), factor * load_int8<Arch>(q + k + kPairs + v),
                     Words<Arch>(0u))
          .store_unaligned(pairs + k / 2 + v);
    }
  }
}

template <class Arch, size_t V>
void gather_int8_tile(const Int8Rows& w, size_t k, const uint32_t* ids, const float* values, size_t count,
                      float* h) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> acc[V];
  SLIDE_UNROLL
  for (size_t v = 0; v < V; ++v) acc[v] = Vec<Arch>::load_unaligned(h + v * N);
  for (size_t i = 0; i < count; ++i) {
    if (i + kRowsAhead < count) {
      const std::int8_t* ahead = w.q + ids[i + kRowsAhead] * w.stride + k;
      for (size_t at = 0; at < V * N; at += 4 * kLaneMultiple) __builtin_prefetch(ahead + at);
    }
    const std::int8_t* row = w.q + ids[i] * w.stride + k;
    const Vec<Arch> value(values[i] * factor_of(w, ids[i]));
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) acc[v] = xsimd::fma(value, load_int8<Arch>(row + v * N), acc[v]);
  }
  SLIDE_UNROLL
  for (size_t v = 0; v < V; ++v) acc[v].store_unaligned(h + v * N);
}

template <class Arch>
void gather_rows_int8(const Int8Rows& w, const uint32_t* ids, const float* values, size_t count, size_t n,
                      float* h) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0;
  for (; k + 8 * N <= n; k += 8 * N) gather_int8_tile<Arch, 8>(w, k, ids, values, count, h + k);
  for (; k + 2 * N <= n; k += 2 * N) gather_int8_tile<Arch, 2>(w, k, ids, values, count, h + k);
  for (; k + N <= n; k += N) gather_int8_tile<Arch, 1>(w, k, ids, values, count, h + k);
  for (; k < n; ++k) {
    float sum = h[k];
    for (size_t i = 0; i < count; ++i)
      sum += values[i] * factor_of(w, ids[i]) * static_cast<float>(w.q[ids[i] * w.stride + k]);
    h[k] = sum;
  }
}

// The dot products with as many rows as a register is wide are summed together, as add_pair_dots() does.
template <class Arch>
void add_dots_int8(const Int8Rows& w, const uint32_t* ids, size_t rows, const float* x, size_t n, float* z) {
  constexpr size_t N = kWidth<Arch>;
  const auto row_sums = [&](const std::int8_t* row) {
    Vec<Arch> even(0.0f), odd(0.0f);
    for (size_t k = 0; k < n; k += 2 * kPairs) {
      SLIDE_UNROLL
      for (size_t v = 0; v < kPairs; v += N) {
        even = xsimd::fma(load_int8<Arch>(row + k + v), Vec<Arch>::load_unaligned(x + k + v), even);
        odd = xsimd::fma(load_int8<Arch>(row + k + kPairs + v), Vec<Arch>::load_unaligned(x + k + kPairs + v),
                         odd);
      }
    }
    return even + odd;
  };
  size_t a = 0;
  for (; a + N <= rows; a += N) {
    Vec<Arch> acc[N];
    for (size_t r = 0; r < N; ++r) {
      const std::int8_t* next = w.q + ids[smaller(a + N + r, rows - 1)] * w.stride;
      for (size_t k = 0; k < n; k += 4 * kLaneMultiple) __builtin_prefetch(next + k);
      acc[r] = Vec<Arch>(factor_of(w, ids[a + r])) * row_sums(w.q + ids[a + r] * w.stride);
    }
    (Vec<Arch>::load_unaligned(z + a) + sum_each<Arch>(acc)).store_unaligned(z + a);
  }
  for (; a < rows; ++a) z[a] += factor_of(w, ids[a]) * sum_of<Arch>(row_sums(w.q + ids[a] * w.stride));
}

}  // namespace
}  // namespace slide::kernels

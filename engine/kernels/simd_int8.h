// int8 rows (int8.h): quantization, widening, weighted sums, products with one vector or with uint8 samples.
// Values become floats in registers; the row's power of two is multiplied in once, which does not round.
#pragma once

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_bf16.h"

namespace slide::kernels {
namespace {

// Whether rows_forward_int8 is faster than the products of floats.
template <class Arch>
constexpr bool kFastInt8 = false;

// Loads kWidth values as floats.
template <class Arch>
Vec<Arch> load_int8(const std::int8_t* q) {
  alignas(64) float x[kWidth<Arch>];
  for (size_t i = 0; i < kWidth<Arch>; ++i) x[i] = static_cast<float>(q[i]);
  return Vec<Arch>::load_aligned(x);
}

// Same as int8_factor() and Int8Rows::row() (int8.h), which must not be called here.
inline float factor_of(const Int8Rows& w, size_t r) {
  const uint32_t bits = static_cast<uint32_t>(w.exponents[r] + 127) << 23;
  float factor;
  __builtin_memcpy(&factor, &bits, sizeof factor);
  return factor;
}

// x [n] = row r as floats.
template <class Arch>
void widen_int8(const Int8Rows& w, size_t r, size_t n, float* x) {
  constexpr size_t N = kWidth<Arch>;
  const std::int8_t* q = w.q + r * w.stride;
  const float factor = factor_of(w, r);
  size_t k = 0;
  for (; k + N <= n; k += N) (Vec<Arch>(factor) * load_int8<Arch>(q + k)).store_unaligned(x + k);
  for (; k < n; ++k) x[k] = factor * static_cast<float>(q[k]);
}

// Row r as a bfloat16 row; exact, so that truncation (bits of 0) does not lose anything.
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

// gather_rows_int8 for V registers of columns from column k on; prefetches rows and their exponents.
template <class Arch, size_t V>
void gather_int8_tile(const Int8Rows& w, size_t k, const uint32_t* ids, const float* values, size_t count,
                      float* h) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> acc[V];
  SLIDE_UNROLL
  for (size_t v = 0; v < V; ++v) acc[v] = Vec<Arch>::load_unaligned(h + v * N);
  for (size_t i = 0; i < count; ++i) {
    if (i + kShortRowsAhead < count) {
      const uint32_t next = ids[i + kShortRowsAhead];
      __builtin_prefetch(w.exponents + next);
      for (size_t at = 0; at < V * N; at += 4 * kLaneMultiple)
        __builtin_prefetch(w.q + next * w.stride + k + at);
    }
    const std::int8_t* row = w.q + ids[i] * w.stride + k;
    const Vec<Arch> value(values[i] * factor_of(w, ids[i]));
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) acc[v] = xsimd::fma(value, load_int8<Arch>(row + v * N), acc[v]);
  }
  SLIDE_UNROLL
  for (size_t v = 0; v < V; ++v) acc[v].store_unaligned(h + v * N);
}

// h [n] += sum_i values[i] * row ids[i], in tiles of 8, 2 and 1 registers of columns; the rest one by one.
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

// z[a] += row ids[a] . x, a < rows; the horizontal sums of kWidth rows are computed together, as in
// add_pair_dots().
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

// rows_forward_int8 for a single sample, whose words are its bytes in order on these processors.
inline void single_sample_int8(const Int8Rows& w, size_t rows, const std::int32_t* start, const float* shift,
                               const ByteSamples& x, float* z) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(x.words);
  for (size_t a = 0; a < rows; ++a) {
    const std::int8_t* q = w.q + a * w.stride;
    std::int32_t sum = start == nullptr ? 0 : start[a];
    for (size_t k = 0; k < x.columns; ++k) sum += static_cast<std::int32_t>(q[k]) * bytes[k];
    z[a] = shift[a] + factor_of(w, a) * x.steps[0] * static_cast<float>(sum);
  }
}

// Generic version for processors without int8 dot products: one or several registers of samples at a time.
template <class Arch>
void rows_forward_int8(const Int8Rows& w, size_t rows, const std::int32_t* start, const float* shift,
                       const ByteSamples& x, float* z) {
  constexpr size_t B = kLaneMultiple;
  if (x.lanes == 1) return single_sample_int8(w, rows, start, shift, x, z);
  for (size_t a = 0; a < rows; ++a) {
    const std::int8_t* q = w.q + a * w.stride;
    const float factor = factor_of(w, a);
    for (size_t b = 0; b < x.lanes; b += B) {
      std::int32_t sums[B];
      for (size_t s = 0; s < B; ++s) sums[s] = start == nullptr ? 0 : start[a];
      for (size_t k = 0; k < x.columns; k += 4) {
        const uint32_t* words = x.words + k / 4 * x.lanes + b;
        for (size_t s = 0; s < B; ++s) {
          const uint32_t word = words[s];
          sums[s] += q[k] * static_cast<std::int32_t>(word & 255u) +
                     q[k + 1] * static_cast<std::int32_t>(word >> 8 & 255u) +
                     q[k + 2] * static_cast<std::int32_t>(word >> 16 & 255u) +
                     q[k + 3] * static_cast<std::int32_t>(word >> 24);
        }
      }
      for (size_t s = 0; s < B; ++s)
        z[a * x.lanes + b + s] = shift[a] + factor * x.steps[b + s] * static_cast<float>(sums[s]);
    }
  }
}

// Exponent of narrow_int8 for a row with this largest |value|.
inline int exponent_for(float largest) {
  uint32_t bits;
  __builtin_memcpy(&bits, &largest, sizeof bits);
  int exponent = static_cast<int>(bits >> 23) - 126 - 7;  // largest < 2^(exponent + 7)
  exponent = exponent < -126 ? -126 : exponent > 120 ? 120 : exponent;
  const std::int8_t tried = static_cast<std::int8_t>(exponent);
  return largest > 127.0f * factor_of({nullptr, 0, &tried}, 0) && exponent < 120 ? exponent + 1 : exponent;
}

// q = n values times `factor`, rounded.
template <class Arch>
void round_to_bytes(const float* x, size_t n, float factor, std::int8_t* q) {
  constexpr size_t N = kWidth<Arch>;
  const Vec<Arch> by(factor), largest(127.0f), smallest(-127.0f);
  alignas(64) float rounded[N];
  size_t k = 0;
  for (; k + N <= n; k += N) {
    xsimd::nearbyint(xsimd::max(smallest, xsimd::min(largest, Vec<Arch>::load_unaligned(x + k) * by)))
        .store_aligned(rounded);
    for (size_t i = 0; i < N; ++i) q[k + i] = static_cast<std::int8_t>(rounded[i]);
  }
  for (; k < n; ++k) {
    const float one = x[k] * factor;
    q[k] = static_cast<std::int8_t>(__builtin_nearbyintf(one > 127.0f    ? 127.0f
                                                         : one < -127.0f ? -127.0f
                                                                         : one));
  }
}

// Quantizes n floats with the exponent of their largest |value|; pads with zeros. Returns the exponent.
template <class Arch>
int narrow_int8(const float* x, size_t n, std::int8_t* q) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> maxima(0.0f);
  size_t k = 0;
  for (; k + N <= n; k += N) maxima = xsimd::max(maxima, xsimd::abs(Vec<Arch>::load_unaligned(x + k)));
  alignas(64) float sizes[N];
  maxima.store_aligned(sizes);
  float largest = 0.0f;
  for (size_t i = 0; i < N; ++i) largest = sizes[i] > largest ? sizes[i] : largest;
  for (; k < n; ++k) {
    const float size = __builtin_fabsf(x[k]);
    largest = size > largest ? size : largest;
  }
  const int exponent = exponent_for(largest);
  const std::int8_t up = static_cast<std::int8_t>(-exponent);
  round_to_bytes<Arch>(x, n, factor_of({nullptr, 0, &up}, 0), q);
  for (size_t i = n; i % (2 * kPairs) != 0; ++i) q[i] = 0;
  return exponent;
}

}  // namespace
}  // namespace slide::kernels

// Selection kernels: entries above a threshold, sign bits, gradient sparsification.
#pragma once

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_bf16.h"

namespace slide::kernels {
namespace {

// Lists the entries of z [rows x lanes] above the threshold of their column; skips registers without any.
// Branch-free within a register: writes every index, and moves on only behind a selected one.
template <class Arch>
size_t select_above(const float* z, size_t rows, size_t lanes, const float* threshold, uint32_t* hits) {
  constexpr size_t N = kWidth<Arch>;
  size_t count = 0;
  for (size_t a = 0; a < rows; ++a) {
    size_t b = 0;
    for (; b + N <= lanes; b += N) {
      const size_t at = a * lanes + b;
      if (!xsimd::any(Vec<Arch>::load_unaligned(z + at) > Vec<Arch>::load_unaligned(threshold + b))) continue;
      for (size_t i = 0; i < N; ++i) {
        hits[count] = static_cast<uint32_t>(at + i);
        count += z[at + i] > threshold[b + i] ? 1 : 0;
      }
    }
    for (; b < lanes; ++b) {
      hits[count] = static_cast<uint32_t>(a * lanes + b);
      count += z[a * lanes + b] > threshold[b] ? 1 : 0;
    }
  }
  return count;
}

// The least of N elements, which are overwritten.
template <size_t N>
[[gnu::always_inline]] inline float min_of(float* x) {
  SLIDE_UNROLL
  for (size_t half = N / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) x[i] = x[i + half] < x[i] ? x[i + half] : x[i];
  }
  return x[0];
}

// smallest[a] = min over samples b of (best z of column b) - z[a, b], a register of columns at a time.
// Columns beyond the samples start at infinity: they are infinitely far behind and never the minimum.
template <class Arch>
void behind_best(const float* z, size_t rows, size_t lanes, size_t samples, float* smallest) {
  constexpr size_t N = kWidth<Arch>;
  constexpr float kInfinity = __builtin_inff();
  alignas(64) float some[N];
  for (size_t b = 0; b < samples; b += N) {
    const size_t used = smaller(N, samples - b), width = smaller(N, lanes - b);
    for (size_t i = 0; i < N; ++i) some[i] = i < used ? -kInfinity : kInfinity;
    if (width < N) {  // a single column
      for (size_t a = 0; a < rows; ++a) some[0] = some[0] < z[a] ? z[a] : some[0];
      for (size_t a = 0; a < rows; ++a) smallest[a] = some[0] - z[a];
      return;
    }
    Vec<Arch> best = Vec<Arch>::load_aligned(some);
    for (size_t a = 0; a < rows; ++a) best = xsimd::max(best, Vec<Arch>::load_unaligned(z + a * lanes + b));
    for (size_t a = 0; a < rows; ++a) {
      (best - Vec<Arch>::load_unaligned(z + a * lanes + b)).store_aligned(some);
      const float nearest = min_of<N>(some);
      smallest[a] = b == 0 || nearest < smallest[a] ? nearest : smallest[a];
    }
  }
}

// pack_signs for one vector of lanes; bits are held in float registers, on which only masks operate.
template <class Arch, bool kNearest>
void pack_signs_of_vector(const float* z, const float* scale, const Vec<Arch>& extra, size_t k, size_t lanes,
                          uint32_t* prints, uint32_t* nearest) {
  const Vec<Arch> zero(0.0f);
  Vec<Arch> print = zero, smallest = zero, nearest_bit = zero;
  for (size_t j = 0; j < k; ++j) {
    auto v = Vec<Arch>::load_unaligned(z + j * lanes);
    if (scale != nullptr) v = xsimd::fma(Vec<Arch>(scale[j]), extra, v);
    const Vec<Arch> bit = as_floats<Arch>(Words<Arch>(uint32_t{1} << j));
    print = print | xsimd::select(v >= zero, bit, zero);
    if constexpr (kNearest) {
      const Vec<Arch> size = xsimd::abs(v);
      const auto nearer = size < smallest;
      smallest = j == 0 ? size : xsimd::select(nearer, size, smallest);
      nearest_bit = j == 0 ? bit : xsimd::select(nearer, bit, nearest_bit);
    }
  }
  as_words<Arch>(print).store_unaligned(prints);
  if constexpr (kNearest) as_words<Arch>(nearest_bit).store_unaligned(nearest);
}

// prints[b]: the signs of the k projections z[j, b] + scale[j] * extra[b] as bits. nearest[b]: the bit of
// the projection nearest to 0, whose sign is least certain.
template <class Arch>
void pack_signs(const float* z, const float* scale, const float* extra, size_t k, size_t lanes,
                uint32_t* prints, uint32_t* nearest) {
  constexpr size_t N = kWidth<Arch>;
  size_t b = 0;
  for (; b + N <= lanes; b += N) {
    const Vec<Arch> more = scale == nullptr ? Vec<Arch>(0.0f) : Vec<Arch>::load_unaligned(extra + b);
    if (nearest != nullptr) {
      pack_signs_of_vector<Arch, true>(z + b, scale, more, k, lanes, prints + b, nearest + b);
    } else {
      pack_signs_of_vector<Arch, false>(z + b, scale, more, k, lanes, prints + b, nullptr);
    }
  }
  for (; b < lanes; ++b) {
    float smallest = 0.0f;
    uint32_t print = 0, nearest_bit = 0;
    for (size_t j = 0; j < k; ++j) {
      const float v =
          scale == nullptr ? z[j * lanes + b] : __builtin_fmaf(scale[j], extra[b], z[j * lanes + b]);
      const uint32_t bit = uint32_t{1} << j;
      print |= v >= 0.0f ? bit : 0;
      const float size = __builtin_fabsf(v);
      const bool nearer = j == 0 || size < smallest;
      smallest = nearer ? size : smallest;
      nearest_bit = nearer ? bit : nearest_bit;
    }
    prints[b] = print;
    if (nearest != nullptr) nearest[b] = nearest_bit;
  }
}

// Stochastic sparsification of d [n]. u is uniform in [0, 1): 23 random bits as the mantissa of a float in
// [1, 2), less 1.
template <class Arch>
size_t sparsify(float* d, size_t n, float threshold, uint32_t noise, uint32_t* places, float* values) {
  constexpr size_t N = kWidth<Arch>;
  const Vec<Arch> zero(0.0f), up(threshold), one(1.0f);
  const Words<Arch> step(static_cast<std::uint32_t>(N) * kWordStep);
  Words<Arch> scaled = first_words<Arch>(0);
  size_t count = 0, i = 0;
  for (; i + N <= n; i += N, scaled += step) {
    const auto value = Vec<Arch>::load_unaligned(d + i), size = xsimd::abs(value);
    if (!xsimd::any(size > zero)) continue;
    const Vec<Arch> u =
        as_floats<Arch>((rounding_words<Arch>(scaled, noise) >> 9) | Words<Arch>(0x3f800000u)) - one;
    const Vec<Arch> small = xsimd::select(size > up * u, xsimd::copysign(up, value), zero);
    const Vec<Arch> rounded = xsimd::select(size < up, small, value);
    rounded.store_unaligned(d + i);
    if (!xsimd::any(rounded != zero)) continue;
    for (size_t j = i; j < i + N; ++j) {
      places[count] = static_cast<uint32_t>(j);
      values[count] = d[j];
      count += d[j] != 0.0f ? 1 : 0;
    }
  }
  for (; i < n; ++i) {
    const uint32_t bits = rounding_word(i, noise) >> 9;
    const float size = __builtin_fabsf(d[i]);
    if (size < threshold) {
      d[i] = size > threshold * (static_cast<float>(bits) * 0x1p-23f) ? __builtin_copysignf(threshold, d[i])
                                                                      : 0.0f;
    }
    places[count] = static_cast<uint32_t>(i);
    values[count] = d[i];
    count += d[i] != 0.0f ? 1 : 0;
  }
  return count;
}

}  // namespace
}  // namespace slide::kernels

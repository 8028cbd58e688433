// Operations on bfloat16 rows: rounding, updates, weighted sums, products with one vector.
#pragma once

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_bf16.h"

namespace slide::kernels {
namespace {

// Below, a group of 2 * kPairs columns is kPairs words: columns [k, k + kPairs) in their low halves, the next
// kPairs in their high halves (bf16.h).

// w = x with stochastic rounding. `scaled`: the words' indices times kWordStep, input of their random bits.
template <class Arch>
void narrow(const float* x, size_t n, uint32_t noise, uint32_t* w) {
  constexpr size_t N = kWidth<Arch>;
  const Words<Arch> step(static_cast<std::uint32_t>(N) * kWordStep);
  Words<Arch> scaled = first_words<Arch>(0);
  size_t k = 0;
  for (; k + 2 * kPairs <= n; k += 2 * kPairs) {
    SLIDE_UNROLL
    for (size_t v = 0; v < kPairs; v += N) {
      to_pairs<Arch>(Vec<Arch>::load_unaligned(x + k + v), Vec<Arch>::load_unaligned(x + k + kPairs + v),
                     rounding_words<Arch>(scaled, noise))
          .store_unaligned(w + k / 2 + v);
      scaled += step;
    }
  }
  for (; k < n; ++k) set_one_value(w, k, x[k], noise);
}

// w = x, each value rounded to the nearest bfloat16.
template <class Arch>
void narrow_nearest(const float* x, size_t n, uint32_t* w) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0;
  for (; k + 2 * kPairs <= n; k += 2 * kPairs) {
    SLIDE_UNROLL
    for (size_t v = 0; v < kPairs; v += N) {
      to_pairs<Arch>(nearest_bf16s<Arch>(Vec<Arch>::load_unaligned(x + k + v)),
                     nearest_bf16s<Arch>(Vec<Arch>::load_unaligned(x + k + kPairs + v)), Words<Arch>(0u))
          .store_unaligned(w + k / 2 + v);
    }
  }
  for (; k < n; ++k) set_one_bf16(w, k, nearest_bf16_bits(x[k]));
}

// w = keep * w - rate * g with stochastic rounding, in fp32 between load and store.
template <class Arch>
void sgd_row_bf16(uint32_t* w, const float* g, size_t n, float rate, float decay, uint32_t noise) {
  constexpr size_t N = kWidth<Arch>;
  const float keep = 1.0f - rate * decay;
  const Words<Arch> step(static_cast<std::uint32_t>(N) * kWordStep);
  Words<Arch> scaled = first_words<Arch>(0);
  size_t k = 0;
  for (; k + 2 * kPairs <= n; k += 2 * kPairs) {
    SLIDE_UNROLL
    for (size_t v = 0; v < kPairs; v += N) {
      const auto words = Words<Arch>::load_unaligned(w + k / 2 + v);
      const Vec<Arch> low = xsimd::fnma(Vec<Arch>(rate), Vec<Arch>::load_unaligned(g + k + v),
                                        Vec<Arch>(keep) * low_half<Arch>(words));
      const Vec<Arch> high = xsimd::fnma(Vec<Arch>(rate), Vec<Arch>::load_unaligned(g + k + kPairs + v),
                                         Vec<Arch>(keep) * high_half<Arch>(words));
      to_pairs<Arch>(low, high, rounding_words<Arch>(scaled, noise)).store_unaligned(w + k / 2 + v);
      scaled += step;
    }
  }
  for (; k < n; ++k) set_one_value(w, k, keep * one_value(w, k) - rate * g[k], noise);
}

// gather_rows_bf16 for P registers of words, that is 2 * P registers of floats: register p of words has its
// low halves in h from column_of(p) on, and its high halves kPairs columns later.
template <class Arch, size_t P>
void gather_pairs_tile(const uint32_t* w, size_t ldw, const uint32_t* ids, const float* values, size_t count,
                       float* h) {
  constexpr size_t N = kWidth<Arch>;
  // Column of the first low half in register p.
  const auto column_of = [](size_t p) { return p * N / kPairs * 2 * kPairs + p * N % kPairs; };
  Vec<Arch> low[P], high[P];
  SLIDE_UNROLL
  for (size_t p = 0; p < P; ++p) {
    low[p] = Vec<Arch>::load_unaligned(h + column_of(p));
    high[p] = Vec<Arch>::load_unaligned(h + column_of(p) + kPairs);
  }
  for (size_t i = 0; i < count; ++i) {
    if (i + kRowsAhead < count) {
      const uint32_t* ahead = w + ids[i + kRowsAhead] * ldw;
      for (size_t p = 0; p < P * N; p += kLaneMultiple) __builtin_prefetch(ahead + p);
    }
    const uint32_t* row = w + ids[i] * ldw;
    const Vec<Arch> value(values[i]);
    SLIDE_UNROLL
    for (size_t p = 0; p < P; ++p) {
      const auto words = Words<Arch>::load_unaligned(row + p * N);
      low[p] = xsimd::fma(value, low_half<Arch>(words), low[p]);
      high[p] = xsimd::fma(value, high_half<Arch>(words), high[p]);
    }
  }
  SLIDE_UNROLL
  for (size_t p = 0; p < P; ++p) {
    low[p].store_unaligned(h + column_of(p));
    high[p].store_unaligned(h + column_of(p) + kPairs);
  }
}

// h [n] += sum_i values[i] * row ids[i], in tiles of four registers of words, then group by group; the
// columns after the last whole group one by one.
template <class Arch>
void gather_rows_bf16(const uint32_t* w, size_t ldw, const uint32_t* ids, const float* values, size_t count,
                      size_t n, float* h) {
  constexpr size_t N = kWidth<Arch>, P = kPairs / N;  // registers of a group
  size_t k = 0;
  for (; k + 8 * N <= n; k += 8 * N) gather_pairs_tile<Arch, 4>(w + k / 2, ldw, ids, values, count, h + k);
  for (; k + 2 * kPairs <= n; k += 2 * kPairs) {
    gather_pairs_tile<Arch, P>(w + k / 2, ldw, ids, values, count, h + k);
  }
  for (; k < n; ++k) {
    float sum = h[k];
    for (size_t i = 0; i < count; ++i) sum += values[i] * one_value(w + ids[i] * ldw, k);
    h[k] = sum;
  }
}

// z[a] += row_at(a) . x, a < rows; the horizontal sums of kWidth rows are computed together.
template <class Arch, class RowAt>
void add_pair_dots(RowAt&& row_at, size_t rows, const float* x, size_t n, float* z) {
  constexpr size_t N = kWidth<Arch>;
  const auto row_sums = [&](const uint32_t* row) {
    Vec<Arch> even(0.0f), odd(0.0f);
    for (size_t k = 0; k < n; k += 2 * kPairs) {
      SLIDE_UNROLL
      for (size_t v = 0; v < kPairs; v += N) {
        const auto words = Words<Arch>::load_unaligned(row + k / 2 + v);
        even = xsimd::fma(low_half<Arch>(words), Vec<Arch>::load_unaligned(x + k + v), even);
        odd = xsimd::fma(high_half<Arch>(words), Vec<Arch>::load_unaligned(x + k + kPairs + v), odd);
      }
    }
    return even + odd;
  };
  size_t a = 0;
  for (; a + N <= rows; a += N) {
    Vec<Arch> acc[N];
    for (size_t r = 0; r < N; ++r) {
      const uint32_t* next = row_at(smaller(a + N + r, rows - 1));
      for (size_t k = 0; k < n; k += 2 * kPairs) __builtin_prefetch(next + k / 2);
      acc[r] = row_sums(row_at(a + r));
    }
    (Vec<Arch>::load_unaligned(z + a) + sum_each<Arch>(acc)).store_unaligned(z + a);
  }
  for (; a < rows; ++a) z[a] += sum_of<Arch>(row_sums(row_at(a)));
}

}  // namespace
}  // namespace slide::kernels

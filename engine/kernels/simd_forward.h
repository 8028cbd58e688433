// rows_forward: weight rows times a block of samples, in tiles of rows and samples whose sums stay in
// registers.
#pragma once

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_vectors.h"

namespace slide::kernels {
namespace {

// Adds columns [k, k + U) to the sums. U columns share one load of each row pointer, for which no register is
// left.
template <class Arch, size_t R, size_t C, size_t U>
[[gnu::always_inline]] inline void forward_columns(const float* const (&row)[R], const float* xt,
                                                   size_t lanes, size_t k, Vec<Arch> (&acc)[R][C]) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> x[U][C];
  SLIDE_UNROLL
  for (size_t u = 0; u < U; ++u) {
    SLIDE_UNROLL
    for (size_t c = 0; c < C; ++c) x[u][c] = Vec<Arch>::load_aligned(xt + (k + u) * lanes + c * N);
  }
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    const float* at = row[r] + k;
    SLIDE_UNROLL
    for (size_t u = 0; u < U; ++u) {
      const Vec<Arch> weight(at[u]);
      SLIDE_UNROLL
      for (size_t c = 0; c < C; ++c) acc[r][c] = xsimd::fma(weight, x[u][c], acc[r][c]);
    }
  }
}

// z tile of R rows x C vectors of samples; prefetches the rows of the next tile, `ahead`.
template <class Arch, size_t R, size_t C>
void forward_tile(const float* w, size_t ldw, const uint32_t* ids, const uint32_t* ahead, const float* shift,
                  const float* xt, size_t inner, size_t lanes, float* z) {
  constexpr size_t N = kWidth<Arch>, U = Tiles<Arch>::kForwardVectors / C;
  constexpr size_t F = (R * U + kLaneMultiple - 1) / kLaneMultiple;  // rows prefetched with U columns
  static_assert(kLaneMultiple % U == 0);
  const float *row[R], *next[R];
  Vec<Arch> acc[R][C];
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    row[r] = w + ids[r] * ldw;
    next[r] = w + ahead[r] * ldw;
    const float start = shift == nullptr ? 0.0f : shift[r];
    SLIDE_UNROLL
    for (size_t c = 0; c < C; ++c) acc[r][c] = Vec<Arch>(start);
  }
  for (size_t k0 = 0; k0 < inner; k0 += kLaneMultiple) {
    const size_t k1 = smaller(k0 + kLaneMultiple, inner);
    size_t k = k0, fetched = 0;
    for (; k + U <= k1; k += U) {
      SLIDE_UNROLL
      for (size_t i = 0; i < F; ++i, ++fetched) {
        if (fetched < R) __builtin_prefetch(next[fetched] + k0);
      }
      forward_columns<Arch, R, C, U>(row, xt, lanes, k, acc);
    }
    for (; k < k1; ++k) forward_columns<Arch, R, C, 1>(row, xt, lanes, k, acc);
  }
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    SLIDE_UNROLL
    for (size_t c = 0; c < C; ++c) acc[r][c].store_aligned(z + r * lanes + c * N);
  }
}

// The same for one vector of samples. Each product needs its own weight, so that loads are the bottleneck:
// copies of the rows' next columns at fixed offsets save the loads of pointers.
template <class Arch, size_t R>
void narrow_tile(const float* w, size_t ldw, const uint32_t* ids, const uint32_t* ahead, const float* shift,
                 const float* xt, size_t inner, size_t lanes, float* z) {
  constexpr size_t N = kWidth<Arch>;
  const float *row[R], *next[R];
  Vec<Arch> acc[R];
  alignas(64) float near[R][kLaneMultiple];
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    row[r] = w + ids[r] * ldw;
    next[r] = w + ahead[r] * ldw;
    acc[r] = Vec<Arch>(shift == nullptr ? 0.0f : shift[r]);
  }
  size_t k = 0;
  for (; k + kLaneMultiple <= inner; k += kLaneMultiple) {
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) {
      SLIDE_UNROLL
      for (size_t i = 0; i < kLaneMultiple; i += N)
        Vec<Arch>::load_unaligned(row[r] + k + i).store_aligned(near[r] + i);
      __builtin_prefetch(next[r] + k);
    }
    // keeps the copies in memory; GCC would shuffle them out of registers
    asm volatile("" : : "r"(near) : "memory");
    SLIDE_UNROLL
    for (size_t u = 0; u < kLaneMultiple; ++u) {
      const Vec<Arch> x = Vec<Arch>::load_aligned(xt + (k + u) * lanes);
      SLIDE_UNROLL
      for (size_t r = 0; r < R; ++r) acc[r] = xsimd::fma(Vec<Arch>(near[r][u]), x, acc[r]);
    }
  }
  for (; k < inner; ++k) {
    const Vec<Arch> x = Vec<Arch>::load_aligned(xt + k * lanes);
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) acc[r] = xsimd::fma(Vec<Arch>(row[r][k]), x, acc[r]);
  }
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) acc[r].store_aligned(z + r * lanes);
}

// All rows in tiles of R, the rest in tiles of R / 2, and so on.
template <class Arch, size_t R, size_t C>
void forward_rows(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* shift,
                  const float* xt, size_t inner, size_t lanes, float* z) {
  const auto shift_at = [&](size_t a) { return shift == nullptr ? nullptr : shift + a; };
  size_t a = 0;
  for (; a + R <= rows; a += R) {
    const uint32_t* ahead = ids + (a + 2 * R <= rows ? a + R : a);
    if constexpr (C == 1) {
      narrow_tile<Arch, R>(w, ldw, ids + a, ahead, shift_at(a), xt, inner, lanes, z + a * lanes);
    } else {
      forward_tile<Arch, R, C>(w, ldw, ids + a, ahead, shift_at(a), xt, inner, lanes, z + a * lanes);
    }
  }
  if constexpr (R > 1) {
    if (a < rows) {
      forward_rows<Arch, R / 2, C>(w, ldw, ids + a, rows - a, shift_at(a), xt, inner, lanes, z + a * lanes);
    }
  }
}

// z of one sample for kWidth rows; their horizontal sums are computed together.
template <class Arch>
void dot_tile(const float* w, size_t ldw, const uint32_t* ids, const float* shift, const float* xt,
              size_t inner, float* z) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> acc[N];
  const size_t whole = inner / N * N;
  for (size_t r = 0; r < N; ++r) {
    const float* row = w + ids[r] * ldw;
    Vec<Arch> even(0.0f), odd(0.0f);
    size_t k = 0;
    for (; k + 2 * N <= whole; k += 2 * N) {
      even = xsimd::fma(Vec<Arch>::load_unaligned(row + k), Vec<Arch>::load_unaligned(xt + k), even);
      odd = xsimd::fma(Vec<Arch>::load_unaligned(row + k + N), Vec<Arch>::load_unaligned(xt + k + N), odd);
    }
    if (k < whole)
      even = xsimd::fma(Vec<Arch>::load_unaligned(row + k), Vec<Arch>::load_unaligned(xt + k), even);
    acc[r] = even + odd;
  }
  Vec<Arch> sum = sum_each<Arch>(acc);
  if (shift != nullptr) sum += Vec<Arch>::load_unaligned(shift);
  sum.store_unaligned(z);
  for (size_t k = whole; k < inner; ++k) {
    for (size_t r = 0; r < N; ++r) z[r] += w[ids[r] * ldw + k] * xt[k];
  }
}

// Z [rows x lanes] = shift + W[ids] X, xt [inner x lanes]. A single sample takes dot products of whole rows;
// a block goes through tiles of two registers of samples, the rest through tiles of one.
template <class Arch>
void rows_forward(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* shift,
                  const float* xt, size_t inner, size_t lanes, float* z) {
  constexpr size_t N = kWidth<Arch>;
  if (lanes == 1) {
    size_t a = 0;
    for (; a + N <= rows; a += N) {
      for (size_t r = a + N; r < smaller(a + 2 * N, rows); ++r) prefetch_row(w + ids[r] * ldw, inner);
      dot_tile<Arch>(w, ldw, ids + a, shift == nullptr ? nullptr : shift + a, xt, inner, z + a);
    }
    for (; a < rows; ++a) {
      if (a + kRowsAhead < rows) prefetch_row(w + ids[a + kRowsAhead] * ldw, inner);
      z[a] = (shift == nullptr ? 0.0f : shift[a]) + dot<Arch>(w + ids[a] * ldw, xt, inner);
    }
    return;
  }
  const size_t step = inner > 0 ? 1 : 0;  // xt may be nullptr for inner = 0
  size_t b = 0;
  for (; b + 2 * N <= lanes; b += 2 * N) {
    forward_rows<Arch, Tiles<Arch>::kForwardRows, 2>(w, ldw, ids, rows, shift, xt + b * step, inner, lanes,
                                                     z + b);
  }
  for (; b < lanes; b += N) {
    forward_rows<Arch, Tiles<Arch>::kForwardRows, 1>(w, ldw, ids, rows, shift, xt + b * step, inner, lanes,
                                                     z + b);
  }
}

}  // namespace
}  // namespace slide::kernels

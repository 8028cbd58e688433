// The kernels written once over xsimd and instantiated by one source file for each instruction set.
//
// Included by kernels_avx2.cpp, kernels_avx512.cpp and kernels_neon.cpp only. Everything is in an anonymous
// namespace and calls no shared inline function, so that the linker can never hand one machine's code to
// another.
#pragma once

#include <xsimd/xsimd.hpp>

#include "engine/kernels/kernels.h"
#include "engine/kernels/unroll.h"

namespace slide::kernels {
namespace {

// Tile shapes of an instruction set: chosen so that accumulators, operands and pointers stay in registers.
template <class Arch>
struct Tiles;

template <class Arch>
using Vec = xsimd::batch<float, Arch>;

template <class Arch>
constexpr size_t kWidth = Vec<Arch>::size;

inline size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

template <class Arch>
float sum_of(const Vec<Arch>& v) {
#if XSIMD_VERSION_MAJOR >= 10
  return xsimd::reduce_add(v);
#else
  return xsimd::hadd(v);
#endif
}

// ---------------------------------------------------------------- rows x block of samples

// Adds columns k .. k + U to the sums. Several at a time, so that a row's pointer, which no register is left
// for, is loaded once for all of them.
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

// z tile of R rows x C vectors of samples; `ahead` names the rows of the next tile, fetched meanwhile.
template <class Arch, size_t R, size_t C>
void forward_tile(const float* w, size_t ldw, const uint32_t* ids, const uint32_t* ahead, const float* shift,
                  const float* xt, size_t inner, size_t lanes, float* z) {
  constexpr size_t N = kWidth<Arch>, U = Tiles<Arch>::kForwardVectors / C;
  constexpr size_t F = (R * U + kLaneMultiple - 1) / kLaneMultiple;  // rows fetched with U columns
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

// The same for one vector of samples. Every product then needs a weight of its own from memory, and loads are
// what it waits for: copies of the rows' next columns, all at known distances, spare those of the pointers.
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
    asm volatile("" : : "r"(near) : "memory");  // or the copies' elements are shuffled out of registers
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

// All rows in tiles of R, what is left in tiles of half the size, and so on.
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

constexpr size_t kRowsAhead = 4;  // rows fetched ahead by the kernels that walk single rows

// Inlined, or GCC leaves it out: see base/prefetch.h, which is not for code of one instruction set.
[[gnu::always_inline]] inline void prefetch_row(const float* row, size_t n) {
  for (size_t k = 0; k < n; k += kLaneMultiple) __builtin_prefetch(row + k);
}

// Element r: the sum of v[r], for as many registers as one has elements.
template <class Arch>
Vec<Arch> sum_each(const Vec<Arch>* v) {
#if defined(__AVX512F__)  // haddp of xsimd 8 adds up wrong here
  if constexpr (kWidth<Arch> == 16) {
    __m512 pairs[8], fours[4];
    for (int i = 0; i < 8; ++i) {
      const __m512 a = v[2 * i], b = v[2 * i + 1];
      pairs[i] = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    }
    for (int i = 0; i < 4; ++i) {
      const __m512d a = _mm512_castps_pd(pairs[2 * i]), b = _mm512_castps_pd(pairs[2 * i + 1]);
      fours[i] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
                               _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
    }
    const __m512 low = _mm512_add_ps(_mm512_shuffle_f32x4(fours[0], fours[1], 0x44),
                                     _mm512_shuffle_f32x4(fours[0], fours[1], 0xee));
    const __m512 high = _mm512_add_ps(_mm512_shuffle_f32x4(fours[2], fours[3], 0x44),
                                      _mm512_shuffle_f32x4(fours[2], fours[3], 0xee));
    return Vec<Arch>(
        _mm512_add_ps(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd)));
  }
#endif
  return xsimd::haddp(v);
}

// z of one sample for as many rows as a register is wide: their partial sums are added up together.
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
  size_t b = 0;
  for (; b + 2 * N <= lanes; b += 2 * N) {
    forward_rows<Arch, Tiles<Arch>::kForwardRows, 2>(w, ldw, ids, rows, shift, xt + b, inner, lanes, z + b);
  }
  for (; b < lanes; b += N)
    forward_rows<Arch, Tiles<Arch>::kForwardRows, 1>(w, ldw, ids, rows, shift, xt + b, inner, lanes, z + b);
}

// dx tile of B samples x V vectors of units, summed over `rows` rows.
template <class Arch, size_t B, size_t V>
void backward_tile(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* d, size_t lanes,
                   float* dx, size_t ldx) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> acc[B][V];
  SLIDE_UNROLL
  for (size_t b = 0; b < B; ++b) {
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) acc[b][v] = Vec<Arch>::load_unaligned(dx + b * ldx + v * N);
  }
  for (size_t a = 0; a < rows; ++a) {
    const float* row = w + ids[a] * ldw;
    Vec<Arch> weight[V];
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) weight[v] = Vec<Arch>::load_unaligned(row + v * N);
    SLIDE_UNROLL
    for (size_t b = 0; b < B; ++b) {
      const Vec<Arch> delta(d[a * lanes + b]);
      SLIDE_UNROLL
      for (size_t v = 0; v < V; ++v) acc[b][v] = xsimd::fma(delta, weight[v], acc[b][v]);
    }
  }
  SLIDE_UNROLL
  for (size_t b = 0; b < B; ++b) {
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) acc[b][v].store_unaligned(dx + b * ldx + v * N);
  }
}

// V vectors of units for all rows and samples. lanes is a multiple of kLaneMultiple and so of B.
template <class Arch, size_t V>
void backward_columns(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* d,
                      size_t lanes, float* dx, size_t ldx) {
  constexpr size_t B = Tiles<Arch>::kBackwardSamples;
  constexpr size_t kChunk = 64;  // rows whose V vectors stay in the nearest caches over all samples
  static_assert(kLaneMultiple % B == 0);
  for (size_t a = 0; a < rows; a += kChunk) {
    const size_t count = smaller(kChunk, rows - a);
    for (size_t b = 0; b < lanes; b += B) {
      backward_tile<Arch, B, V>(w, ldw, ids + a, count, d + a * lanes + b, lanes, dx + b * ldx, ldx);
    }
  }
}

template <class Arch>
void rows_backward_input(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* d,
                         size_t inner, size_t lanes, float* dx, size_t ldx) {
  constexpr size_t N = kWidth<Arch>;
  constexpr size_t V = Tiles<Arch>::kBackwardVectors;
  if (lanes == 1) {
    for (size_t a = 0; a < rows; ++a) axpy<Arch>(d[a], w + ids[a] * ldw, inner, dx);
    return;
  }
  size_t k = 0;
  for (; k + V * N <= inner; k += V * N)
    backward_columns<Arch, V>(w + k, ldw, ids, rows, d, lanes, dx + k, ldx);
  if constexpr (V > 2) {
    for (; k + 2 * N <= inner; k += 2 * N)
      backward_columns<Arch, 2>(w + k, ldw, ids, rows, d, lanes, dx + k, ldx);
  }
  for (; k + N <= inner; k += N) backward_columns<Arch, 1>(w + k, ldw, ids, rows, d, lanes, dx + k, ldx);
  for (; k < inner; ++k) {
    for (size_t a = 0; a < rows; ++a) {
      const float weight = w[ids[a] * ldw + k];
      for (size_t b = 0; b < lanes; ++b) dx[b * ldx + k] += weight * d[a * lanes + b];
    }
  }
}

// g tile of R rows x V vectors of units, summed over the samples.
template <class Arch, size_t R, size_t V>
void gradient_tile(const float* const* d, size_t samples, const float* x, size_t ldx, float* const* g,
                   size_t k) {
  constexpr size_t N = kWidth<Arch>;
  const float* delta[R];
  Vec<Arch> acc[R][V];
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    delta[r] = d[r];
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) acc[r][v] = Vec<Arch>::load_unaligned(g[r] + k + v * N);
  }
  for (size_t b = 0; b < samples; ++b) {
    Vec<Arch> unit[V];
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) unit[v] = Vec<Arch>::load_unaligned(x + b * ldx + k + v * N);
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) {
      const Vec<Arch> factor(delta[r][b]);
      SLIDE_UNROLL
      for (size_t v = 0; v < V; ++v) acc[r][v] = xsimd::fma(factor, unit[v], acc[r][v]);
    }
  }
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) acc[r][v].store_unaligned(g[r] + k + v * N);
  }
}

// V vectors of units from the k-th on, for all rows: these columns of x stay in the first-level cache from
// row to row.
template <class Arch, size_t V>
void gradient_columns(const float* const* d, size_t rows, size_t samples, const float* x, size_t ldx,
                      float* const* g, size_t k) {
  constexpr size_t R = Tiles<Arch>::kGradientRows;
  size_t r = 0;
  for (; r + R <= rows; r += R) gradient_tile<Arch, R, V>(d + r, samples, x, ldx, g + r, k);
  for (; r < rows; ++r) gradient_tile<Arch, 1, V>(d + r, samples, x, ldx, g + r, k);
}

template <class Arch>
void rows_gradient(const float* const* d, size_t rows, size_t samples, const float* x, size_t ldx,
                   size_t inner, float* const* g) {
  constexpr size_t N = kWidth<Arch>;
  constexpr size_t V = Tiles<Arch>::kGradientVectors;
  size_t k = 0;
  if (rows < Tiles<Arch>::kGradientRows) {
    for (; k + 2 * V * N <= inner; k += 2 * V * N) {
      gradient_columns<Arch, 2 * V>(d, rows, samples, x, ldx, g, k);
    }
  }
  for (; k + V * N <= inner; k += V * N) gradient_columns<Arch, V>(d, rows, samples, x, ldx, g, k);
  for (; k + N <= inner; k += N) gradient_columns<Arch, 1>(d, rows, samples, x, ldx, g, k);
  for (; k < inner; ++k) {
    for (size_t r = 0; r < rows; ++r) {
      float sum = g[r][k];
      for (size_t b = 0; b < samples; ++b) sum += d[r][b] * x[b * ldx + k];
      g[r][k] = sum;
    }
  }
}

// ---------------------------------------------------------------- sparse inputs

template <class Arch, size_t V>
void gather_tile(const float* w, size_t ldw, const uint32_t* ids, const float* values, size_t count,
                 float* h) {
  constexpr size_t N = kWidth<Arch>;
  constexpr size_t S = V < 8 ? 8 / V : 1;  // independent sums, so that few vectors do not wait for each other
  Vec<Arch> acc[S][V];
  SLIDE_UNROLL
  for (size_t v = 0; v < V; ++v) {
    acc[0][v] = Vec<Arch>::load_unaligned(h + v * N);
    SLIDE_UNROLL
    for (size_t s = 1; s < S; ++s) acc[s][v] = Vec<Arch>(0.0f);
  }
  size_t i = 0;
  for (; i + S <= count; i += S) {
    if (V >= 4 && i + kRowsAhead < count) prefetch_row(w + ids[i + kRowsAhead] * ldw, V * N);
    SLIDE_UNROLL
    for (size_t s = 0; s < S; ++s) {
      const float* row = w + ids[i + s] * ldw;
      const Vec<Arch> value(values[i + s]);
      SLIDE_UNROLL
      for (size_t v = 0; v < V; ++v) {
        acc[s][v] = xsimd::fma(value, Vec<Arch>::load_unaligned(row + v * N), acc[s][v]);
      }
    }
  }
  for (; i < count; ++i) {
    const Vec<Arch> value(values[i]);
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) {
      acc[0][v] = xsimd::fma(value, Vec<Arch>::load_unaligned(w + ids[i] * ldw + v * N), acc[0][v]);
    }
  }
  SLIDE_UNROLL
  for (size_t v = 0; v < V; ++v) {
    SLIDE_UNROLL
    for (size_t s = 1; s < S; ++s) acc[0][v] += acc[s][v];
    acc[0][v].store_unaligned(h + v * N);
  }
}

template <class Arch>
void gather_rows(const float* w, size_t ldw, const uint32_t* ids, const float* values, size_t count, size_t n,
                 float* h) {
  constexpr size_t N = kWidth<Arch>;
  constexpr size_t V = 8;
  size_t k = 0;
  for (; k + V * N <= n; k += V * N) gather_tile<Arch, V>(w + k, ldw, ids, values, count, h + k);
  for (; k + 4 * N <= n; k += 4 * N) gather_tile<Arch, 4>(w + k, ldw, ids, values, count, h + k);
  for (; k + 2 * N <= n; k += 2 * N) gather_tile<Arch, 2>(w + k, ldw, ids, values, count, h + k);
  for (; k + N <= n; k += N) gather_tile<Arch, 1>(w + k, ldw, ids, values, count, h + k);
  for (; k < n; ++k) {
    float sum = h[k];
    for (size_t i = 0; i < count; ++i) sum += values[i] * w[ids[i] * ldw + k];
    h[k] = sum;
  }
}

template <class Arch, size_t V>
size_t scatter_tile(const uint32_t* ids, const float* values, size_t count, uint32_t bound, const float* x,
                    float* h, size_t ldh) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> part[V];
  SLIDE_UNROLL
  for (size_t v = 0; v < V; ++v) part[v] = Vec<Arch>::load_unaligned(x + v * N);
  size_t i = 0;
  for (; i < count && ids[i] < bound; ++i) {
    float* row = h + ids[i] * ldh;
    const Vec<Arch> value(values[i]);
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) {
      xsimd::fma(value, part[v], Vec<Arch>::load_unaligned(row + v * N)).store_unaligned(row + v * N);
    }
  }
  return i;
}

template <class Arch>
size_t scatter_rows(const uint32_t* ids, const float* values, size_t count, uint32_t bound, const float* x,
                    size_t n, float* h, size_t ldh) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0, done = 0;
  for (; k + 8 * N <= n; k += 8 * N)
    done = scatter_tile<Arch, 8>(ids, values, count, bound, x + k, h + k, ldh);
  for (; k + 4 * N <= n; k += 4 * N)
    done = scatter_tile<Arch, 4>(ids, values, count, bound, x + k, h + k, ldh);
  for (; k + 2 * N <= n; k += 2 * N)
    done = scatter_tile<Arch, 2>(ids, values, count, bound, x + k, h + k, ldh);
  for (; k + N <= n; k += N) done = scatter_tile<Arch, 1>(ids, values, count, bound, x + k, h + k, ldh);
  if (k == n && n > 0) return done;
  for (done = 0; done < count && ids[done] < bound; ++done) {
    for (size_t rest = k; rest < n; ++rest) h[ids[done] * ldh + rest] += values[done] * x[rest];
  }
  return done;
}

// ---------------------------------------------------------------- bfloat16 rows, see bf16.h

template <class Arch>
using Words = xsimd::batch<std::uint32_t, Arch>;

constexpr size_t kPairs = 16;  // words of a group of columns

template <class Arch>
Vec<Arch> as_floats(const Words<Arch>& v) {
#if XSIMD_VERSION_MAJOR >= 10
  return xsimd::bitwise_cast<float>(v);
#else
  return xsimd::bitwise_cast<Vec<Arch> >(v);
#endif
}
template <class Arch>
Words<Arch> as_words(const Vec<Arch>& v) {
#if XSIMD_VERSION_MAJOR >= 10
  return xsimd::bitwise_cast<std::uint32_t>(v);
#else
  return xsimd::bitwise_cast<Words<Arch> >(v);
#endif
}

// The floats in the low and in the high halves of words.
template <class Arch>
Vec<Arch> low_half(const Words<Arch>& v) {
  return as_floats<Arch>(v << 16);
}
template <class Arch>
Vec<Arch> high_half(const Words<Arch>& v) {
  return as_floats<Arch>(v & Words<Arch>(0xffff0000u));
}

// Random bits for the words whose numbers times 0x9e3779b9 are in `count`.
template <class Arch>
Words<Arch> rounding_words(const Words<Arch>& count, std::uint32_t noise) {
  Words<Arch> h = count + Words<Arch>(noise);
  h = (h ^ (h >> 16)) * Words<Arch>(0x7feb352du);
  h = (h ^ (h >> 15)) * Words<Arch>(0x846ca68bu);
  return h ^ (h >> 16);
}

template <class Arch>
Words<Arch> first_words(size_t word) {
  constexpr size_t N = kWidth<Arch>;
  alignas(64) std::uint32_t numbers[N];
  for (size_t i = 0; i < N; ++i) numbers[i] = static_cast<std::uint32_t>(word + i) * 0x9e3779b9u;
  return Words<Arch>::load_aligned(numbers);
}

template <class Arch>
Words<Arch> to_pairs(const Vec<Arch>& low, const Vec<Arch>& high, const Words<Arch>& bits) {
  const Words<Arch> a = (as_words<Arch>(low) + (bits & Words<Arch>(0xffffu))) >> 16;
  const Words<Arch> b = (as_words<Arch>(high) + (bits >> 16)) & Words<Arch>(0xffff0000u);
  return a | b;
}

// What is left behind the last whole group, column by column.
inline float one_value(const uint32_t* w, size_t k) {
  const uint32_t word = w[k / (2 * kPairs) * kPairs + k % kPairs];
  const uint32_t bits = k % (2 * kPairs) >= kPairs ? word & 0xffff0000u : word << 16;
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
// rounding_bits() of bf16.h, which is a shared inline function.
inline uint32_t rounding_word(size_t at, uint32_t noise) {
  uint32_t h = static_cast<uint32_t>(at) * 0x9e3779b9u + noise;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}
// Column k of a row from the upper half of a float's bits.
inline void set_one_half(uint32_t* w, size_t k, uint32_t bits) {
  uint32_t& word = w[k / (2 * kPairs) * kPairs + k % kPairs];
  const bool in_high = k % (2 * kPairs) >= kPairs;
  word = in_high ? (word & 0xffffu) | (bits & 0xffff0000u) : (word & 0xffff0000u) | (bits >> 16);
}
inline void set_one_value(uint32_t* w, size_t k, float value, uint32_t noise) {
  const uint32_t h = rounding_word(k / (2 * kPairs) * kPairs + k % kPairs, noise);
  uint32_t exact;
  __builtin_memcpy(&exact, &value, sizeof exact);
  set_one_half(w, k, exact + (k % (2 * kPairs) >= kPairs ? h >> 16 : h & 0xffffu));
}

template <class Arch>
void widen(const uint32_t* w, size_t n, float* x) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0;
  for (; k + 2 * kPairs <= n; k += 2 * kPairs) {
    SLIDE_UNROLL
    for (size_t v = 0; v < kPairs; v += N) {
      const auto words = Words<Arch>::load_unaligned(w + k / 2 + v);
      low_half<Arch>(words).store_unaligned(x + k + v);
      high_half<Arch>(words).store_unaligned(x + k + kPairs + v);
    }
  }
  for (; k < n; ++k) x[k] = one_value(w, k);
}

// z[a] += row_at(a) * x, a < rows: the dot products with as many rows as a register is wide are summed
// together.
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

template <class Arch>
void add_dots_bf16(const uint32_t* w, size_t ldw, size_t rows, const float* x, size_t n, float* z) {
  add_pair_dots<Arch>([&](size_t a) { return w + a * ldw; }, rows, x, n, z);
}

constexpr size_t kWideColumns = 128;  // of rows, widened at a time

template <class Arch>
Vec<Arch> nearest_halves(const Vec<Arch>& v) {
  const Words<Arch> bits = as_words<Arch>(v);
  return as_floats<Arch>((bits + Words<Arch>(0x7fffu) + ((bits >> 16) & Words<Arch>(1u))) &
                         Words<Arch>(0xffff0000u));
}

// The bits of nearest_half() of bf16.h, which is a shared inline function.
inline uint32_t nearest_half_bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
}

// to = the nearest bfloat16 values of n floats.
template <class Arch>
void round_row(const float* from, size_t n, float* to) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0;
  for (; k + N <= n; k += N)
    nearest_halves<Arch>(Vec<Arch>::load_unaligned(from + k)).store_unaligned(to + k);
  for (; k < n; ++k) {
    const uint32_t bits = nearest_half_bits(from[k]);
    __builtin_memcpy(to + k, &bits, sizeof bits);
  }
}

// z tile of R rows x C vectors of samples, from `start` or, where that is nullptr, on top of what is there.
template <class Arch, size_t R, size_t C>
void wide_tile(const float* rows, const float* x, size_t ldx, size_t columns, const float* start, float* z,
               size_t ldz) {
  constexpr size_t N = kWidth<Arch>, U = Tiles<Arch>::kForwardVectors / C;
  const float* row[R];
  Vec<Arch> acc[R][C];
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    row[r] = rows + r * kWideColumns;
    SLIDE_UNROLL
    for (size_t c = 0; c < C; ++c) {
      acc[r][c] = start != nullptr ? Vec<Arch>(start[r]) : Vec<Arch>::load_aligned(z + r * ldz + c * N);
    }
  }
  for (size_t k = 0; k < columns; k += U) forward_columns<Arch, R, C, U>(row, x, ldx, k, acc);
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    SLIDE_UNROLL
    for (size_t c = 0; c < C; ++c) acc[r][c].store_aligned(z + r * ldz + c * N);
  }
}

// A panel of samples, [columns x width] rounded units.
struct WidePanel {
  const float* x;
  size_t columns, width;
  bool first;  // of the columns: z is yet to be started
};

// All rows in tiles of R, what is left in tiles of half the size, and so on. A row is widened once for all
// samples of the panel.
template <class Arch, size_t R>
void wide_rows(const uint32_t* w, size_t ldw, const uint32_t* ids, size_t rows, const float* shift,
               const WidePanel& panel, float* z, size_t ldz) {
  constexpr size_t N = kWidth<Arch>;
  alignas(64) float wide[R * kWideColumns], start[R] = {};
  size_t a = 0;
  for (; a + R <= rows; a += R) {
    for (size_t r = 0; r < R; ++r) {
      const uint32_t* next = w + ids[smaller(a + R + r, rows - 1)] * ldw;
      for (size_t k = 0; k < panel.columns; k += 2 * kPairs) __builtin_prefetch(next + k / 2);
      widen<Arch>(w + ids[a + r] * ldw, panel.columns, wide + r * kWideColumns);
      if (shift != nullptr) start[r] = shift[a + r];
    }
    const float* from = panel.first ? start : nullptr;
    size_t b = 0;
    for (; b + 2 * N <= panel.width; b += 2 * N) {
      wide_tile<Arch, R, 2>(wide, panel.x + b, panel.width, panel.columns, from, z + a * ldz + b, ldz);
    }
    for (; b < panel.width; b += N) {
      wide_tile<Arch, R, 1>(wide, panel.x + b, panel.width, panel.columns, from, z + a * ldz + b, ldz);
    }
  }
  if constexpr (R > 1) {
    if (a < rows) {
      wide_rows<Arch, R / 2>(w, ldw, ids + a, rows - a, shift == nullptr ? nullptr : shift + a, panel,
                             z + a * ldz, ldz);
    }
  }
}

template <class Arch>
void rows_forward_bf16(const uint32_t* w, size_t ldw, const uint32_t* ids, size_t rows, const float* shift,
                       const float* xt, size_t inner, size_t lanes, float* z) {
  constexpr size_t kWidest = 4 * kLaneMultiple;  // samples of a panel
  alignas(64) float x[kWideColumns * kWidest];
  for (size_t a = 0; a < rows && lanes == 1; ++a) z[a] = shift == nullptr ? 0.0f : shift[a];
  for (size_t k = 0; k < inner || k == 0; k += kWideColumns, w += kWideColumns / 2) {
    const size_t columns = smaller(kWideColumns, inner - k);
    const size_t padded = (columns + 2 * kPairs - 1) / (2 * kPairs) * 2 * kPairs;
    for (size_t b = 0; b < lanes; b += kWidest) {
      const size_t width = smaller(kWidest, lanes - b);
      for (size_t i = columns * width; i < padded * width; ++i) x[i] = 0.0f;
      if (lanes == 1) {
        round_row<Arch>(xt + k, columns, x);
        add_pair_dots<Arch>([&](size_t a) { return w + ids[a] * ldw; }, rows, x, padded, z);
      } else {
        for (size_t c = 0; c < columns; ++c) round_row<Arch>(xt + (k + c) * lanes + b, width, x + c * width);
        wide_rows<Arch, Tiles<Arch>::kForwardRows>(w, ldw, ids, rows, shift, {x, padded, width, k == 0},
                                                   z + b, lanes);
      }
    }
  }
}

template <class Arch>
void narrow(const float* x, size_t n, uint32_t noise, uint32_t* w) {
  constexpr size_t N = kWidth<Arch>;
  const Words<Arch> ahead(static_cast<std::uint32_t>(N) * 0x9e3779b9u);
  Words<Arch> count = first_words<Arch>(0);
  size_t k = 0;
  for (; k + 2 * kPairs <= n; k += 2 * kPairs) {
    SLIDE_UNROLL
    for (size_t v = 0; v < kPairs; v += N) {
      to_pairs<Arch>(Vec<Arch>::load_unaligned(x + k + v), Vec<Arch>::load_unaligned(x + k + kPairs + v),
                     rounding_words<Arch>(count, noise))
          .store_unaligned(w + k / 2 + v);
      count += ahead;
    }
  }
  for (; k < n; ++k) set_one_value(w, k, x[k], noise);
}

template <class Arch>
void narrow_nearest(const float* x, size_t n, uint32_t* w) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0;
  for (; k + 2 * kPairs <= n; k += 2 * kPairs) {
    SLIDE_UNROLL
    for (size_t v = 0; v < kPairs; v += N) {
      to_pairs<Arch>(nearest_halves<Arch>(Vec<Arch>::load_unaligned(x + k + v)),
                     nearest_halves<Arch>(Vec<Arch>::load_unaligned(x + k + kPairs + v)), Words<Arch>(0u))
          .store_unaligned(w + k / 2 + v);
    }
  }
  for (; k < n; ++k) set_one_half(w, k, nearest_half_bits(x[k]));
}

template <class Arch>
void sgd_row_bf16(uint32_t* w, const float* g, size_t n, float rate, float decay, uint32_t noise) {
  constexpr size_t N = kWidth<Arch>;
  const float keep = 1.0f - rate * decay;
  const Words<Arch> ahead(static_cast<std::uint32_t>(N) * 0x9e3779b9u);
  Words<Arch> count = first_words<Arch>(0);
  size_t k = 0;
  for (; k + 2 * kPairs <= n; k += 2 * kPairs) {
    SLIDE_UNROLL
    for (size_t v = 0; v < kPairs; v += N) {
      const auto words = Words<Arch>::load_unaligned(w + k / 2 + v);
      const Vec<Arch> low = xsimd::fnma(Vec<Arch>(rate), Vec<Arch>::load_unaligned(g + k + v),
                                        Vec<Arch>(keep) * low_half<Arch>(words));
      const Vec<Arch> high = xsimd::fnma(Vec<Arch>(rate), Vec<Arch>::load_unaligned(g + k + kPairs + v),
                                         Vec<Arch>(keep) * high_half<Arch>(words));
      to_pairs<Arch>(low, high, rounding_words<Arch>(count, noise)).store_unaligned(w + k / 2 + v);
      count += ahead;
    }
  }
  for (; k < n; ++k) set_one_value(w, k, keep * one_value(w, k) - rate * g[k], noise);
}

// P registers of words: 2 * P of floats, in the order of the columns.
template <class Arch, size_t P>
void gather_pairs_tile(const uint32_t* w, size_t ldw, const uint32_t* ids, const float* values, size_t count,
                       float* h) {
  constexpr size_t N = kWidth<Arch>;
  const auto place = [](size_t p) { return p * N / kPairs * 2 * kPairs + p * N % kPairs; };
  Vec<Arch> low[P], high[P];
  SLIDE_UNROLL
  for (size_t p = 0; p < P; ++p) {
    low[p] = Vec<Arch>::load_unaligned(h + place(p));
    high[p] = Vec<Arch>::load_unaligned(h + place(p) + kPairs);
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
    low[p].store_unaligned(h + place(p));
    high[p].store_unaligned(h + place(p) + kPairs);
  }
}

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

inline void transpose(const float* in, size_t ldi, size_t rows, size_t columns, size_t ldo, float* out) {
  constexpr size_t kTile = 16;
  for (size_t r0 = 0; r0 < rows; r0 += kTile) {
    const size_t r1 = smaller(r0 + kTile, rows);
    for (size_t c = 0; c < columns; ++c) {
      for (size_t r = r0; r < r1; ++r) out[c * ldo + r] = in[r * ldi + c];
    }
  }
}

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

// pack_signs of one vector of lanes; bits are kept as floats, which nothing but masks touches.
template <class Arch, bool kNearest>
void pack_signs_of_vector(const float* z, const float* scale, const Vec<Arch>& extra, size_t k, size_t lanes,
                          uint32_t* prints, uint32_t* nearest) {
  const Vec<Arch> zero(0.0f);
  Vec<Arch> print = zero, least = zero, least_bit = zero;
  for (size_t j = 0; j < k; ++j) {
    auto v = Vec<Arch>::load_unaligned(z + j * lanes);
    if (scale != nullptr) v = xsimd::fma(Vec<Arch>(scale[j]), extra, v);
    const Vec<Arch> bit = as_floats<Arch>(Words<Arch>(uint32_t{1} << j));
    print = print | xsimd::select(v >= zero, bit, zero);
    if constexpr (kNearest) {
      const Vec<Arch> size = xsimd::abs(v);
      const auto nearer = size < least;
      least = j == 0 ? size : xsimd::select(nearer, size, least);
      least_bit = j == 0 ? bit : xsimd::select(nearer, bit, least_bit);
    }
  }
  as_words<Arch>(print).store_unaligned(prints);
  if constexpr (kNearest) as_words<Arch>(least_bit).store_unaligned(nearest);
}

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
    float least = 0.0f;
    uint32_t print = 0, least_bit = 0;
    for (size_t j = 0; j < k; ++j) {
      const float v =
          scale == nullptr ? z[j * lanes + b] : __builtin_fmaf(scale[j], extra[b], z[j * lanes + b]);
      const uint32_t bit = uint32_t{1} << j;
      print |= v >= 0.0f ? bit : 0;
      const float size = __builtin_fabsf(v);
      const bool nearer = j == 0 || size < least;
      least = nearer ? size : least;
      least_bit = nearer ? bit : least_bit;
    }
    prints[b] = print;
    if (nearest != nullptr) nearest[b] = least_bit;
  }
}

template <class Arch>
size_t round_small(float* d, size_t n, float floor, uint32_t noise, uint32_t* places, float* values) {
  constexpr size_t N = kWidth<Arch>;
  const Vec<Arch> zero(0.0f), up(floor), one(1.0f);
  const Words<Arch> ahead(static_cast<std::uint32_t>(N) * 0x9e3779b9u);
  Words<Arch> number = first_words<Arch>(0);
  size_t count = 0, i = 0;
  for (; i + N <= n; i += N, number += ahead) {
    const auto value = Vec<Arch>::load_unaligned(d + i), size = xsimd::abs(value);
    if (!xsimd::any(size > zero)) continue;
    const Vec<Arch> u =
        as_floats<Arch>((rounding_words<Arch>(number, noise) >> 9) | Words<Arch>(0x3f800000u)) - one;
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
    if (size < floor) {
      d[i] = size > floor * (static_cast<float>(bits) * 0x1p-23f) ? __builtin_copysignf(floor, d[i]) : 0.0f;
    }
    places[count] = static_cast<uint32_t>(i);
    values[count] = d[i];
    count += d[i] != 0.0f ? 1 : 0;
  }
  return count;
}

// Masks, compression and expansion are AVX-512's; elsewhere these are as fast one by one.
template <class Arch>
size_t meet(const uint32_t* ids, const float* w, size_t count, const uint32_t* bits, const uint32_t* first,
            uint16_t* masks, uint32_t* columns, float* values) {
  size_t found = 0;
#if defined(__AVX512BW__)
  const __m512i ones_of_nibble =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i nibble = _mm512_set1_epi8(15), one = _mm512_set1_epi32(1);
  for (size_t i = 0; i < count; i += 16) {
    const auto valid = static_cast<__mmask16>(count - i < 16 ? (1u << (count - i)) - 1 : 0xffffu);
    const __m512i id = _mm512_maskz_loadu_epi32(valid, ids + i);
    const __m512i at = _mm512_srli_epi32(id, 5);
    const __m512i word = _mm512_i32gather_epi32(at, bits, 4);
    const __m512i bit = _mm512_sllv_epi32(one, _mm512_and_si512(id, _mm512_set1_epi32(31)));
    const __mmask16 mask = _mm512_mask_test_epi32_mask(valid, word, bit);
    masks[i / 16] = mask;
    // Bits set below: counted in nibbles, summed over a word's bytes.
    const __m512i below = _mm512_and_si512(word, _mm512_sub_epi32(bit, one));
    const __m512i low = _mm512_shuffle_epi8(ones_of_nibble, _mm512_and_si512(below, nibble));
    const __m512i high =
        _mm512_shuffle_epi8(ones_of_nibble, _mm512_and_si512(_mm512_srli_epi32(below, 4), nibble));
    const __m512i pairs = _mm512_maddubs_epi16(_mm512_add_epi8(low, high), _mm512_set1_epi8(1));
    const __m512i lower = _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
    const __m512i column = _mm512_add_epi32(lower, _mm512_mask_i32gather_epi32(at, mask, at, first, 4));
    _mm512_storeu_si512(columns + found, _mm512_maskz_compress_epi32(mask, column));
    _mm512_storeu_ps(values + found, _mm512_maskz_compress_ps(mask, _mm512_maskz_loadu_ps(valid, w + i)));
    found += static_cast<size_t>(__builtin_popcount(mask));
  }
#else
  for (size_t i = 0; i < count; ++i) {
    if (i % 16 == 0) masks[i / 16] = 0;
    const uint32_t word = bits[ids[i] / 32], bit = ids[i] % 32, present = word >> bit & 1u;
    masks[i / 16] = static_cast<uint16_t>(masks[i / 16] | present << (i % 16));
    columns[found] = first[ids[i] / 32] + static_cast<uint32_t>(__builtin_popcount(word & ((1u << bit) - 1)));
    values[found] = w[i];
    found += present;
  }
#endif
  return found;
}

template <class Arch>
void part_kinds(const uint32_t* columns, const float* w, size_t count, const uint32_t* places,
                uint16_t* masks, Parts& parts) {
  size_t counts[kKinds] = {};
#if defined(__AVX512F__)
  static_assert(kKinds == 4);
  for (size_t i = 0; i < count; i += 16) {
    const auto valid = static_cast<__mmask16>(count - i < 16 ? (1u << (count - i)) - 1 : 0xffffu);
    const __m512i column = _mm512_maskz_loadu_epi32(valid, columns + i);
    const __m512 weight = _mm512_maskz_loadu_ps(valid, w + i);
    const __m512i place = _mm512_i32gather_epi32(column, places, 4);
    const __m512i kind = _mm512_and_si512(place, _mm512_set1_epi32(3));
    SLIDE_UNROLL
    for (size_t k = 0; k < kKinds; ++k) {
      const __mmask16 mask =
          _mm512_mask_cmpeq_epi32_mask(valid, kind, _mm512_set1_epi32(static_cast<int>(k)));
      masks[i / 16 * kKinds + k] = mask;
      _mm512_storeu_si512(parts.places[k] + counts[k],
                          _mm512_maskz_compress_epi32(mask, _mm512_srli_epi32(place, 2)));
      _mm512_storeu_ps(parts.weights[k] + counts[k], _mm512_maskz_compress_ps(mask, weight));
      counts[k] += static_cast<size_t>(__builtin_popcount(mask));
    }
  }
#else
  for (size_t i = 0; i < count; ++i) {
    if (i % 16 == 0) {
      for (size_t kind = 0; kind < kKinds; ++kind) masks[i / 16 * kKinds + kind] = 0;
    }
    const uint32_t place = places[columns[i]], kind = place % kKinds;
    uint16_t& mask = masks[i / 16 * kKinds + kind];
    mask = static_cast<uint16_t>(mask | 1u << (i % 16));
    parts.places[kind][counts[kind]] = place / kKinds;
    parts.weights[kind][counts[kind]++] = w[i];
  }
#endif
  for (size_t k = 0; k < kKinds; ++k) parts.count[k] = counts[k];
}

template <class Arch>
void join_kinds(const uint16_t* masks, size_t count, const float* const* parts, float* g) {
  const float* at[kKinds];
  for (size_t k = 0; k < kKinds; ++k) at[k] = parts[k];
#if defined(__AVX512F__)
  for (size_t i = 0; i < count; i += 16) {
    __m512 joined = _mm512_setzero_ps();
    SLIDE_UNROLL
    for (size_t k = 0; k < kKinds; ++k) {
      const __mmask16 mask = masks[i / 16 * kKinds + k];
      joined = _mm512_mask_expandloadu_ps(joined, mask, at[k]);
      at[k] += __builtin_popcount(mask);
    }
    const auto valid = static_cast<__mmask16>(count - i < 16 ? (1u << (count - i)) - 1 : 0xffffu);
    _mm512_mask_storeu_ps(g + i, valid, joined);
  }
#else
  for (size_t i = 0; i < count; ++i) {
    size_t kind = 0;
    while ((masks[i / 16 * kKinds + kind] >> (i % 16) & 1u) == 0) ++kind;
    g[i] = *at[kind]++;
  }
#endif
}

template <class Arch>
void adagrad_masked(float* w, float* accumulators, const uint16_t* masks, size_t count, const float* g,
                    float scale, float rate) {
#if defined(__AVX512F__)
  const __m512 one = _mm512_set1_ps(1.0f), half = _mm512_set1_ps(0.5f), three_halves = _mm512_set1_ps(1.5f);
  for (size_t i = 0; i < count; i += 16) {
    const __mmask16 mask = masks[i / 16];
    if (mask == 0) continue;
    const __m512 h = _mm512_mul_ps(_mm512_set1_ps(scale), _mm512_maskz_expandloadu_ps(mask, g));
    g += __builtin_popcount(mask);
    // Listed deltas leave most gradients at 0: their accumulators need not be loaded.
    if (_mm512_test_epi32_mask(_mm512_castps_si512(h), _mm512_castps_si512(h)) == 0) continue;
    const __m512 sum = _mm512_fmadd_ps(h, h, _mm512_maskz_loadu_ps(mask, accumulators + i));
    _mm512_mask_storeu_ps(accumulators + i, mask, sum);
    // 1 / sqrt(1 + sum): 14 bits, then one step of Newton's
    const __m512 x = _mm512_add_ps(one, sum), y = _mm512_rsqrt14_ps(x);
    const __m512 root =
        _mm512_mul_ps(y, _mm512_fnmadd_ps(_mm512_mul_ps(half, x), _mm512_mul_ps(y, y), three_halves));
    const __m512 step = _mm512_mul_ps(_mm512_mul_ps(_mm512_set1_ps(rate), h), root);
    _mm512_mask_storeu_ps(w + i, mask, _mm512_sub_ps(_mm512_maskz_loadu_ps(mask, w + i), step));
  }
#else
  for (size_t i = 0; i < count; ++i) {
    if ((masks[i / 16] >> (i % 16) & 1u) == 0) continue;
    const float h = scale * *g++;
    accumulators[i] += h * h;
    w[i] -= rate * h / __builtin_sqrtf(1.0f + accumulators[i]);
  }
#endif
}

// ---------------------------------------------------------------- activations

template <class Arch>
void softmax_lanes(float* z, size_t rows, size_t lanes, float scale, float* log_norm) {
  constexpr size_t N = kWidth<Arch>;
  if (lanes == 1) {
    float largest = z[0];
    for (size_t a = 1; a < rows; ++a) largest = z[a] > largest ? z[a] : largest;
    size_t a = 0;
    Vec<Arch> sums(0.0f);
    for (; a + N <= rows; a += N) {
      const Vec<Arch> e = xsimd::exp(Vec<Arch>::load_unaligned(z + a) - Vec<Arch>(largest));
      e.store_unaligned(z + a);
      sums += e;
    }
    float sum = sum_of<Arch>(sums);
    for (; a < rows; ++a) {
      z[a] = __builtin_expf(z[a] - largest);
      sum += z[a];
    }
    for (a = 0; a < rows; ++a) z[a] *= scale / sum;
    log_norm[0] = largest + __builtin_logf(sum);
    return;
  }
  for (size_t b = 0; b < lanes; b += N) {
    Vec<Arch> largest = Vec<Arch>::load_aligned(z + b);
    for (size_t a = 1; a < rows; ++a)
      largest = xsimd::max(largest, Vec<Arch>::load_aligned(z + a * lanes + b));
    Vec<Arch> sum(0.0f);
    for (size_t a = 0; a < rows; ++a) {
      const Vec<Arch> e = xsimd::exp(Vec<Arch>::load_aligned(z + a * lanes + b) - largest);
      e.store_aligned(z + a * lanes + b);
      sum += e;
    }
    const Vec<Arch> factor = Vec<Arch>(scale) / sum;
    for (size_t a = 0; a < rows; ++a) {
      (Vec<Arch>::load_aligned(z + a * lanes + b) * factor).store_aligned(z + a * lanes + b);
    }
    (largest + xsimd::log(sum)).store_unaligned(log_norm + b);
  }
}

template <class Arch>
float logistic_loss(float* z, size_t n, float weight) {
  constexpr size_t N = kWidth<Arch>;
  const Vec<Arch> zero(0.0f), one(1.0f), factor(weight);
  Vec<Arch> sums(0.0f);
  size_t i = 0;
  for (; i + N <= n; i += N) {
    const Vec<Arch> x = Vec<Arch>::load_unaligned(z + i);
    const Vec<Arch> e = xsimd::exp(-xsimd::abs(x));
    sums += xsimd::max(x, zero) + xsimd::log(one + e);
    (factor * xsimd::select(x >= zero, one, e) / (one + e)).store_unaligned(z + i);
  }
  float sum = sum_of<Arch>(sums);
  for (; i < n; ++i) {
    const float e = __builtin_expf(-__builtin_fabsf(z[i]));
    sum += (z[i] > 0.0f ? z[i] : 0.0f) + __builtin_logf(1.0f + e);
    z[i] = weight * (z[i] >= 0.0f ? 1.0f : e) / (1.0f + e);
  }
  return weight * sum;
}

inline void relu(float* z, size_t n) {
  for (size_t i = 0; i < n; ++i) z[i] = z[i] > 0.0f ? z[i] : 0.0f;
}

inline void relu_backward(const float* y, size_t n, float* d) {
  for (size_t i = 0; i < n; ++i) d[i] = y[i] > 0.0f ? d[i] : 0.0f;
}

inline void sigmoid_backward(const float* y, size_t n, float* d) {
  for (size_t i = 0; i < n; ++i) d[i] *= y[i] * (1.0f - y[i]);
}

inline void tanh_backward(const float* y, size_t n, float* d) {
  for (size_t i = 0; i < n; ++i) d[i] *= 1.0f - y[i] * y[i];
}

template <class Arch>
void sigmoid(float* z, size_t n) {
  constexpr size_t N = kWidth<Arch>;
  const Vec<Arch> one(1.0f);
  size_t i = 0;
  for (; i + N <= n; i += N) {
    (one / (one + xsimd::exp(-Vec<Arch>::load_unaligned(z + i)))).store_unaligned(z + i);
  }
  for (; i < n; ++i) z[i] = 1.0f / (1.0f + __builtin_expf(-z[i]));
}

template <class Arch>
void tanh(float* z, size_t n) {
  constexpr size_t N = kWidth<Arch>;
  size_t i = 0;
  for (; i + N <= n; i += N) xsimd::tanh(Vec<Arch>::load_unaligned(z + i)).store_unaligned(z + i);
  for (; i < n; ++i) z[i] = __builtin_tanhf(z[i]);
}

// ---------------------------------------------------------------- optimizers

// w = keep * w - step * g
template <class Arch>
void step_row(float* w, const float* g, size_t n, float step, float keep) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0;
  for (; k + N <= n; k += N) {
    const Vec<Arch> kept = Vec<Arch>(keep) * Vec<Arch>::load_unaligned(w + k);
    xsimd::fnma(Vec<Arch>(step), Vec<Arch>::load_unaligned(g + k), kept).store_unaligned(w + k);
  }
  for (; k < n; ++k) w[k] = keep * w[k] - step * g[k];
}

template <class Arch>
void sgd_row(float* w, const float* g, size_t n, float rate, float decay) {
  step_row<Arch>(w, g, n, rate, 1.0f - rate * decay);
}

template <class Arch>
void momentum_row(float* w, float* velocity, const float* g, size_t n, float rate, float decay,
                  float momentum) {
  constexpr size_t N = kWidth<Arch>;
  const float keep = 1.0f - rate * decay;
  size_t k = 0;
  for (; k + N <= n; k += N) {
    const Vec<Arch> u = xsimd::fma(Vec<Arch>(momentum), Vec<Arch>::load_unaligned(velocity + k),
                                   Vec<Arch>::load_unaligned(g + k));
    u.store_unaligned(velocity + k);
    xsimd::fnma(Vec<Arch>(rate), u, Vec<Arch>(keep) * Vec<Arch>::load_unaligned(w + k))
        .store_unaligned(w + k);
  }
  for (; k < n; ++k) {
    velocity[k] = momentum * velocity[k] + g[k];
    w[k] = keep * w[k] - rate * velocity[k];
  }
}

template <class Arch>
void adagrad_row(float* w, float* accumulator, const float* g, size_t n, float rate, float decay,
                 float epsilon) {
  *accumulator += dot<Arch>(g, g, n) / static_cast<float>(n);
  step_row<Arch>(w, g, n, rate / (__builtin_sqrtf(*accumulator) + epsilon), 1.0f - rate * decay);
}

template <class Arch>
void adam_row(float* w, float* m, float* v, const float* g, size_t n, float rate, float decay, float beta1,
              float beta2, float epsilon) {
  constexpr size_t N = kWidth<Arch>;
  const float keep = 1.0f - rate * decay;
  size_t k = 0;
  for (; k + N <= n; k += N) {
    const Vec<Arch> gradient = Vec<Arch>::load_unaligned(g + k);
    const Vec<Arch> first =
        xsimd::fma(Vec<Arch>(beta1), Vec<Arch>::load_unaligned(m + k), Vec<Arch>(1.0f - beta1) * gradient);
    const Vec<Arch> second = xsimd::fma(Vec<Arch>(beta2), Vec<Arch>::load_unaligned(v + k),
                                        Vec<Arch>(1.0f - beta2) * gradient * gradient);
    first.store_unaligned(m + k);
    second.store_unaligned(v + k);
    const Vec<Arch> kept = Vec<Arch>(keep) * Vec<Arch>::load_unaligned(w + k);
    (kept - Vec<Arch>(rate) * first / (xsimd::sqrt(second) + Vec<Arch>(epsilon))).store_unaligned(w + k);
  }
  for (; k < n; ++k) {
    m[k] = beta1 * m[k] + (1.0f - beta1) * g[k];
    v[k] = beta2 * v[k] + (1.0f - beta2) * g[k] * g[k];
    w[k] = keep * w[k] - rate * m[k] / (__builtin_sqrtf(v[k]) + epsilon);
  }
}

template <class Arch>
constexpr KernelSet make_kernel_set(const char* name) {
  return {name,
          false,
          rows_forward<Arch>,
          rows_forward_bf16<Arch>,
          rows_backward_input<Arch>,
          rows_gradient<Arch>,
          gather_rows<Arch>,
          scatter_rows<Arch>,
          gather_rows_bf16<Arch>,
          dot<Arch>,
          sum<Arch>,
          axpy<Arch>,
          transpose,
          select_above<Arch>,
          pack_signs<Arch>,
          round_small<Arch>,
          meet<Arch>,
          part_kinds<Arch>,
          join_kinds<Arch>,
          softmax_lanes<Arch>,
          logistic_loss<Arch>,
          relu,
          sigmoid<Arch>,
          tanh<Arch>,
          relu_backward,
          sigmoid_backward,
          tanh_backward,
          sgd_row<Arch>,
          momentum_row<Arch>,
          adagrad_row<Arch>,
          sgd_row_bf16<Arch>,
          widen<Arch>,
          add_dots_bf16<Arch>,
          narrow<Arch>,
          narrow_nearest<Arch>,
          adagrad_masked<Arch>,
          adam_row<Arch>};
}

}  // namespace
}  // namespace slide::kernels

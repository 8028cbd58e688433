// Weighted sums over rows selected by ids (gather_rows, scatter_rows) and over elements (gather_dot), as
// kernels.h specifies. Tiles of V vectors of columns are held in registers.
#pragma once

#include "engine/kernels/simd.h"

namespace slide::kernels {
namespace {

// h[k] += sum_i values[i] * w[ids[i]*ldw + k], k < V * N for vectors of N lanes.
template <class Arch, size_t V>
void gather_tile(const float* w, size_t ldw, const uint32_t* ids, const float* values, size_t count,
                 float* h) {
  constexpr size_t N = kWidth<Arch>;
  constexpr size_t S = V < 8 ? 8 / V : 1;  // independent sums hide the latency of additions for small V
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

// h [n] += sum_i values[i] * row ids[i], in tiles of 8, 4, 2 and 1 registers of columns; the rest one by
// one.
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

// h[ids[i]*ldh + k] += values[i] * x[k], k < V * N, up to the first ids[i] >= bound; returns the number of
// ids.
template <class Arch, size_t V>
size_t scatter_tile(const uint32_t* ids, const float* values, size_t count, uint32_t bound, const float* x,
                    float* h, size_t ldh) {
  constexpr size_t N = kWidth<Arch>;
  Vec<Arch> xs[V];
  SLIDE_UNROLL
  for (size_t v = 0; v < V; ++v) xs[v] = Vec<Arch>::load_unaligned(x + v * N);
  size_t i = 0;
  for (; i < count && ids[i] < bound; ++i) {
    float* row = h + ids[i] * ldh;
    const Vec<Arch> value(values[i]);
    SLIDE_UNROLL
    for (size_t v = 0; v < V; ++v) {
      xsimd::fma(value, xs[v], Vec<Arch>::load_unaligned(row + v * N)).store_unaligned(row + v * N);
    }
  }
  return i;
}

// h row ids[i] += values[i] * x [n], in tiles of 8, 4, 2 and 1 registers of columns; the rest one by one.
// Every tile stops at the same id, the first one >= bound.
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

// sum_i values[i] * x[ids[i]], without gather instructions.
template <class Arch>
float gather_dot(const float* x, const uint32_t* ids, const float* values, size_t count) {
  float sums[4] = {};  // independent sums hide the latency of additions
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    SLIDE_UNROLL
    for (size_t j = 0; j < 4; ++j) sums[j] += values[i + j] * x[ids[i + j]];
  }
  for (; i < count; ++i) sums[0] += values[i] * x[ids[i]];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace
}  // namespace slide::kernels

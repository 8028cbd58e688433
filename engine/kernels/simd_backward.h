// Products with output gradients: with weight rows, giving input gradients (rows_backward_input); with
// inputs, giving weight gradients (rows_gradient).
#pragma once

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_vectors.h"

namespace slide::kernels {
namespace {

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

// V vectors of units for all rows and samples. lanes is a multiple of kLaneMultiple and thus of B.
template <class Arch, size_t V>
void backward_columns(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* d,
                      size_t lanes, float* dx, size_t ldx) {
  constexpr size_t B = Tiles<Arch>::kBackwardSamples;
  constexpr size_t kChunk = 64;  // rows whose V vectors stay in near caches over all samples
  static_assert(kLaneMultiple % B == 0);
  for (size_t a = 0; a < rows; a += kChunk) {
    const size_t count = smaller(kChunk, rows - a);
    for (size_t b = 0; b < lanes; b += B) {
      backward_tile<Arch, B, V>(w, ldw, ids + a, count, d + a * lanes + b, lanes, dx + b * ldx, ldx);
    }
  }
}

// dX [lanes x inner] += D^T W[ids]. Columns of W in panels of V registers, then 2, then 1, the rest one by
// one.
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

// g tile of R rows x V vectors of units from unit k on, summed over the samples.
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

// V vectors of units from unit k on, for all rows: these columns of x stay in the first-level cache.
template <class Arch, size_t V>
void gradient_columns(const float* const* d, size_t rows, size_t samples, const float* x, size_t ldx,
                      float* const* g, size_t k) {
  constexpr size_t R = Tiles<Arch>::kGradientRows;
  size_t r = 0;
  for (; r + R <= rows; r += R) gradient_tile<Arch, R, V>(d + r, samples, x, ldx, g + r, k);
  for (; r < rows; ++r) gradient_tile<Arch, 1, V>(d + r, samples, x, ldx, g + r, k);
}

// G [rows x inner] += D X. Few rows leave registers free: then panels are twice as wide.
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

}  // namespace
}  // namespace slide::kernels

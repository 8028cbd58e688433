// rows_forward_bf16 without native bfloat16 arithmetic: widens rows and rounds samples, one panel of columns
// and samples at a time.
#pragma once

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_bf16.h"
#include "engine/kernels/simd_bf16_rows.h"
#include "engine/kernels/simd_forward.h"

namespace slide::kernels {
namespace {

constexpr size_t kWideColumns = 128;  // row columns widened at a time

// Rounds n floats to the nearest bfloat16 values.
template <class Arch>
void round_row(const float* from, size_t n, float* to) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0;
  for (; k + N <= n; k += N) nearest_bf16s<Arch>(Vec<Arch>::load_unaligned(from + k)).store_unaligned(to + k);
  for (; k < n; ++k) {
    const uint32_t bits = nearest_bf16_bits(from[k]);
    __builtin_memcpy(to + k, &bits, sizeof bits);
  }
}

// z tile of R rows x C vectors of samples; starts from `start`, or adds to z where `start` is nullptr.
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

// A panel of samples, [columns x width], rounded.
struct WidePanel {
  const float* x;
  size_t columns, width;
  bool first;  // first columns: z is not initialised yet
};

// All rows in tiles of R, the rest in tiles of R / 2, and so on. A row is widened once for all samples of the
// panel.
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

// Panels of kWideColumns columns; within each, panels of kWidest samples, copied to x [columns x width].
// `shift` enters with the first panel of columns; `first`: z is not initialised yet.
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

}  // namespace
}  // namespace slide::kernels

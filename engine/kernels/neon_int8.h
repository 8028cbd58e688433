// rows_forward_int8 over dot products of four bytes each, of either kind that ARM processors have; `Dots` is
// the kind:
//
//   Dots::Bytes                      a register of sample bytes
//   Dots::load(words)                the bytes of 4 words
//   Dots::add<L>(sums, x, w)         sums[i] += dot product of word i of x and word L of w
//   Dots::add(sums, x, w)            the same with word i of w
//   Dots::correction(q, columns)     what is to be added for a row, as load() may have changed the bytes
//
// Included only by kernels_neon_dotprod.cpp and kernels_neon_i8mm.cpp; the rule of simd.h on shared inline
// functions applies.
#pragma once

#include <arm_neon.h>

#include "engine/kernels/kernels.h"
#include "engine/kernels/products.h"
#include "engine/kernels/unroll.h"

namespace slide::kernels {
namespace {

constexpr size_t kVector = 4;       // samples in a register
constexpr size_t kColumns = 16;     // weights in a register
constexpr size_t kTileVectors = 2;  // registers of samples in a tile
constexpr size_t kTileSamples = kTileVectors * kVector;

inline std::int32_t start_of(const Int8Product& p, size_t a) {
  return p.start == nullptr ? 0 : p.start[a];
}

// Same as int8_factor() (int8.h), which must not be called here.
inline float factor_of(const Int8Product& p, size_t a) {
  const uint32_t bits = static_cast<uint32_t>(p.w.exponents[a] + 127) << 23;
  float factor;
  __builtin_memcpy(&factor, &bits, sizeof factor);
  return factor;
}

// Adds the products of word L of `weights` and the words from `words` on.
template <class Dots, int L, size_t R>
[[gnu::always_inline]] inline void add_word(const int8x16_t (&weights)[R], const uint32_t* words,
                                            int32x4_t (&acc)[R][kTileVectors]) {
  SLIDE_UNROLL
  for (size_t c = 0; c < kTileVectors; ++c) {
    const typename Dots::Bytes x = Dots::load(words + c * kVector);
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) acc[r][c] = Dots::template add<L>(acc[r][c], x, weights[r]);
  }
}

// z tile of R rows from row a on x kTileSamples samples from sample b on. `starts` has the first values of
// the sums. 16 weights of a row are four words, each of which is multiplied with the samples' word of the
// same columns.
template <class Dots, size_t R>
void tile(const Int8Product& p, const std::int32_t* starts, size_t a, size_t b) {
  const std::int8_t* row[R];
  int32x4_t acc[R][kTileVectors];
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    row[r] = p.w.q + (a + r) * p.w.stride;
    SLIDE_UNROLL
    for (size_t c = 0; c < kTileVectors; ++c) acc[r][c] = vdupq_n_s32(starts[r]);
  }
  const size_t lanes = p.x.lanes;
  for (size_t k = 0; k < p.x.columns; k += kColumns) {
    int8x16_t weights[R];
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) weights[r] = vld1q_s8(row[r] + k);  // rows end with whole groups
    const uint32_t* words = p.x.words + k / 4 * lanes + b;
    const size_t left = (p.x.columns - k) / 4;
    add_word<Dots, 0>(weights, words, acc);
    if (left > 1) add_word<Dots, 1>(weights, words + lanes, acc);
    if (left > 2) add_word<Dots, 2>(weights, words + 2 * lanes, acc);
    if (left > 3) add_word<Dots, 3>(weights, words + 3 * lanes, acc);
  }
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    const float32x4_t factor = vdupq_n_f32(factor_of(p, a + r)), shift = vdupq_n_f32(p.shift[a + r]);
    SLIDE_UNROLL
    for (size_t c = 0; c < kTileVectors; ++c) {
      const float32x4_t step = vmulq_f32(factor, vld1q_f32(p.x.steps + b + c * kVector));
      vst1q_f32(p.z + (a + r) * lanes + b + c * kVector, vfmaq_f32(shift, step, vcvtq_f32_s32(acc[r][c])));
    }
  }
}

// R rows from row a on with all samples: rows are read once, samples stay in the cache.
template <class Dots, size_t R>
void tiles(const Int8Product& p, size_t a) {
  std::int32_t starts[R];
  for (size_t r = 0; r < R; ++r)
    starts[r] = start_of(p, a + r) + Dots::correction(p.w.q + (a + r) * p.w.stride, p.x.columns);
  for (size_t b = 0; b < p.x.lanes; b += kTileSamples) tile<Dots, R>(p, starts, a, b);
}

// One row with a single sample, whose words are its bytes in order.
template <class Dots>
float single_sample_row(const Int8Product& p, size_t a) {
  const std::int8_t* q = p.w.q + a * p.w.stride;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(p.x.words);
  const size_t whole = p.x.columns / kColumns * kColumns;
  int32x4_t even = vdupq_n_s32(0), odd = even;
  size_t k = 0;
  for (; k + 2 * kColumns <= whole; k += 2 * kColumns) {
    even = Dots::add(even, Dots::load(p.x.words + k / 4), vld1q_s8(q + k));
    odd = Dots::add(odd, Dots::load(p.x.words + (k + kColumns) / 4), vld1q_s8(q + k + kColumns));
  }
  if (k < whole) even = Dots::add(even, Dots::load(p.x.words + k / 4), vld1q_s8(q + k));
  std::int32_t sum = start_of(p, a) + Dots::correction(q, whole) + vaddvq_s32(vaddq_s32(even, odd));
  for (k = whole; k < p.x.columns; ++k) sum += static_cast<std::int32_t>(q[k]) * bytes[k];
  return p.shift[a] + factor_of(p, a) * p.x.steps[0] * static_cast<float>(sum);
}

// All rows: one at a time for a single sample, else in tiles of 8, 4 and 1 rows.
template <class Dots>
void multiply_rows(const Int8Product& p) {
  size_t a = 0;
  if (p.x.lanes == 1) {
    for (; a < p.rows; ++a) p.z[a] = single_sample_row<Dots>(p, a);
  }
  for (; a + 8 <= p.rows; a += 8) tiles<Dots, 8>(p, a);
  for (; a + 4 <= p.rows; a += 4) tiles<Dots, 4>(p, a);
  for (; a < p.rows; ++a) tiles<Dots, 1>(p, a);
}

}  // namespace
}  // namespace slide::kernels

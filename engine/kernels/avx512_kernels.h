// AVX-512 specialisations of templates in simd_*.h, which specify them: sums over sixteen registers, int8
// conversion, gathers; and for the linear term masks, compression and expansion. 16 floats a register; tails
// are masked. Included only by kernels_avx512.cpp.
#pragma once

#include <immintrin.h>

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_gather.h"
#include "engine/kernels/simd_int8.h"
#include "engine/kernels/simd_patterns.h"

namespace slide::kernels {
namespace {

using Avx512 = xsimd::avx512bw;

// Element r is the sum over register v[r], for 16 registers.
template <>
Vec<Avx512> sum_each<Avx512>(const Vec<Avx512>* v) {
  // Adds in a tree: pairs[i] has the sums of v[2 i] and v[2 i + 1] over pairs of elements, fours[i] of four
  // registers over four elements; the shuffles add up the four quarters.
  __m512 pairs[8], fours[4];
  for (int i = 0; i < 8; ++i) {
    const __m512 a = v[2 * i], b = v[2 * i + 1];
    pairs[i] = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  }
  for (int i = 0; i < 4; ++i) {
    const __m512d a = _mm512_castps_pd(pairs[2 * i]), b = _mm512_castps_pd(pairs[2 * i + 1]);
    fours[i] =
        _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  }
  const __m512 low = _mm512_add_ps(_mm512_shuffle_f32x4(fours[0], fours[1], 0x44),
                                   _mm512_shuffle_f32x4(fours[0], fours[1], 0xee));
  const __m512 high = _mm512_add_ps(_mm512_shuffle_f32x4(fours[2], fours[3], 0x44),
                                    _mm512_shuffle_f32x4(fours[2], fours[3], 0xee));
  return Vec<Avx512>(
      _mm512_add_ps(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd)));
}

template <>
Vec<Avx512> load_int8<Avx512>(const std::int8_t* q) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(q))));
}

// Mask of the lanes among the next `count` entries.
inline __mmask16 lanes_below(size_t count) {
  return static_cast<__mmask16>(count < 16 ? (1u << count) - 1 : 0xffffu);
}

// q = x * factor, rounded and limited to [-127, 127].
template <>
void round_to_bytes<Avx512>(const float* x, size_t n, float factor, std::int8_t* q) {
  const __m512 by = _mm512_set1_ps(factor);
  const __m512i min = _mm512_set1_epi32(-127);
  for (size_t k = 0; k < n; k += 16) {
    const __mmask16 valid = lanes_below(n - k);
    // Rounds to nearest even; values above 127 saturate.
    const __m512i rounded = _mm512_cvtps_epi32(_mm512_mul_ps(by, _mm512_maskz_loadu_ps(valid, x + k)));
    _mm512_mask_cvtsepi32_storeu_epi8(q + k, valid, _mm512_max_epi32(rounded, min));
  }
}

// Sixteen entries at a time: gathers their words of the bit set and compresses the present entries. A column
// is the rank of its bit.
template <>
size_t find_present<Avx512>(const uint32_t* ids, const float* w, size_t count, const uint32_t* bits,
                            const uint32_t* first, uint16_t* masks, uint32_t* columns, float* values) {
  size_t found = 0;
  const __m512i ones_of_nibble =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i nibble = _mm512_set1_epi8(15), one = _mm512_set1_epi32(1);
  for (size_t i = 0; i < count; i += 16) {
    const __mmask16 valid = lanes_below(count - i);
    const __m512i id = _mm512_maskz_loadu_epi32(valid, ids + i);
    const __m512i at = _mm512_srli_epi32(id, 5);
    const __m512i word = _mm512_i32gather_epi32(at, bits, 4);
    const __m512i bit = _mm512_sllv_epi32(one, _mm512_and_si512(id, _mm512_set1_epi32(31)));
    const __mmask16 mask = _mm512_mask_test_epi32_mask(valid, word, bit);
    masks[i / 16] = mask;
    // Population count of the lower bits: by nibbles, summed over the bytes of a word.
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
  return found;
}

// Sixteen entries at a time: the two low bits of a place are its kind, the other bits its position.
template <>
void part_kinds<Avx512>(const uint32_t* columns, const float* w, size_t count, const uint32_t* places,
                        uint16_t* masks, Parts& parts) {
  size_t counts[kKinds] = {};
  static_assert(kKinds == 4);
  for (size_t i = 0; i < count; i += 16) {
    const __mmask16 valid = lanes_below(count - i);
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
  for (size_t k = 0; k < kKinds; ++k) parts.count[k] = counts[k];
}

// Sixteen entries at a time: expands the next values of each kind to the entries of that kind.
template <>
void join_kinds<Avx512>(const uint16_t* masks, size_t count, const float* const* parts, float* g) {
  const float* at[kKinds];
  for (size_t k = 0; k < kKinds; ++k) at[k] = parts[k];
  for (size_t i = 0; i < count; i += 16) {
    __m512 joined = _mm512_setzero_ps();
    SLIDE_UNROLL
    for (size_t k = 0; k < kKinds; ++k) {
      const __mmask16 mask = masks[i / 16 * kKinds + k];
      joined = _mm512_mask_expandloadu_ps(joined, mask, at[k]);
      at[k] += __builtin_popcount(mask);
    }
    const __mmask16 valid = lanes_below(count - i);
    _mm512_mask_storeu_ps(g + i, valid, joined);
  }
}

// Sixteen weights at a time; expands their consecutive gradients to the masked weights.
template <>
void adagrad_masked<Avx512>(float* w, float* accumulators, const uint16_t* masks, size_t count,
                            const float* g, float scale, float rate) {
  const __m512 one = _mm512_set1_ps(1.0f), half = _mm512_set1_ps(0.5f), three_halves = _mm512_set1_ps(1.5f);
  for (size_t i = 0; i < count; i += 16) {
    const __mmask16 mask = masks[i / 16];
    if (mask == 0) continue;
    const __m512 h = _mm512_mul_ps(_mm512_set1_ps(scale), _mm512_maskz_expandloadu_ps(mask, g));
    g += __builtin_popcount(mask);
    // With listed gradients most are 0; skip loading their accumulators.
    if (_mm512_test_epi32_mask(_mm512_castps_si512(h), _mm512_castps_si512(h)) == 0) continue;
    const __m512 sum = _mm512_fmadd_ps(h, h, _mm512_maskz_loadu_ps(mask, accumulators + i));
    _mm512_mask_storeu_ps(accumulators + i, mask, sum);
    // 1 / sqrt(1 + sum): 14-bit estimate and one Newton step
    const __m512 x = _mm512_add_ps(one, sum), y = _mm512_rsqrt14_ps(x);
    const __m512 root =
        _mm512_mul_ps(y, _mm512_fnmadd_ps(_mm512_mul_ps(half, x), _mm512_mul_ps(y, y), three_halves));
    const __m512 step = _mm512_mul_ps(_mm512_mul_ps(_mm512_set1_ps(rate), h), root);
    _mm512_mask_storeu_ps(w + i, mask, _mm512_sub_ps(_mm512_maskz_loadu_ps(mask, w + i), step));
  }
}

// sum_i values[i] * x[ids[i]] in two independent sums, which hide the latency of additions.
template <>
float gather_dot<Avx512>(const float* x, const uint32_t* ids, const float* values, size_t count) {
  __m512 even = _mm512_setzero_ps(), odd = _mm512_setzero_ps();
  size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m512 low = _mm512_i32gather_ps(_mm512_loadu_si512(ids + i), x, 4);
    const __m512 high = _mm512_i32gather_ps(_mm512_loadu_si512(ids + i + 16), x, 4);
    even = _mm512_fmadd_ps(_mm512_loadu_ps(values + i), low, even);
    odd = _mm512_fmadd_ps(_mm512_loadu_ps(values + i + 16), high, odd);
  }
  for (; i < count; i += 16) {
    const __mmask16 valid = lanes_below(count - i);
    const __m512i id = _mm512_maskz_loadu_epi32(valid, ids + i);
    const __m512 part = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), valid, id, x, 4);
    even = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(valid, values + i), part, even);
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(even, odd));
}

}  // namespace
}  // namespace slide::kernels

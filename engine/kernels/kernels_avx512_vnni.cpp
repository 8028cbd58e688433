// rows_forward_int8 with AVX512-VNNI dot products of four bytes each. dispatch.cpp combines it with the
// avx512 kernels.
#include <immintrin.h>

#include <type_traits>

#include "engine/kernels/kernels.h"
#include "engine/kernels/products.h"
#include "engine/kernels/unroll.h"

namespace slide::kernels {

// Also declared in dispatch.cpp.
std::remove_pointer_t<decltype(KernelSet::rows_forward_int8)> rows_forward_int8_dots;

namespace {

constexpr size_t kVector = 16;

inline std::int32_t word_of(const std::int8_t* q) {
  std::int32_t word;
  __builtin_memcpy(&word, q, sizeof word);
  return word;
}

// Same as int8_factor() (int8.h), which must not be called here.
inline __m512 factor_of(const Int8Product& p, size_t a) {
  return _mm512_castsi512_ps(_mm512_set1_epi32((p.w.exponents[a] + 127) << 23));
}

// z tile of R rows from row a on x C vectors of samples from sample b on. `multiply` adds the products of
// some words (four columns each) from column k on.
template <size_t R, size_t C>
void tile(const Int8Product& p, size_t a, size_t b) {
  constexpr size_t U = 4 / C;  // words per load of the pointers
  const std::int8_t* row[R];
  __m512i acc[R][C];
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    row[r] = p.w.q + (a + r) * p.w.stride;
    SLIDE_UNROLL
    for (size_t c = 0; c < C; ++c) acc[r][c] = _mm512_set1_epi32(p.start == nullptr ? 0 : p.start[a + r]);
  }
  const auto multiply = [&]<size_t Words>(size_t k) {
    __m512i x[Words][C];
    SLIDE_UNROLL
    for (size_t u = 0; u < Words; ++u) {
      SLIDE_UNROLL
      for (size_t c = 0; c < C; ++c)
        x[u][c] = _mm512_loadu_si512(p.x.words + (k / 4 + u) * p.x.lanes + b + c * kVector);
    }
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) {
      SLIDE_UNROLL
      for (size_t u = 0; u < Words; ++u) {
        const __m512i weights = _mm512_set1_epi32(word_of(row[r] + k + 4 * u));
        SLIDE_UNROLL
        for (size_t c = 0; c < C; ++c) acc[r][c] = _mm512_dpbusd_epi32(acc[r][c], x[u][c], weights);
      }
    }
  };
  size_t k = 0;
  for (; k + 4 * U <= p.x.columns; k += 4 * U) multiply.template operator()<U>(k);
  for (; k < p.x.columns; k += 4) multiply.template operator()<1>(k);
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    const __m512 factor = factor_of(p, a + r), shift = _mm512_set1_ps(p.shift[a + r]);
    SLIDE_UNROLL
    for (size_t c = 0; c < C; ++c) {
      const __m512 step = _mm512_mul_ps(factor, _mm512_loadu_ps(p.x.steps + b + c * kVector));
      _mm512_storeu_ps(p.z + (a + r) * p.x.lanes + b + c * kVector,
                       _mm512_fmadd_ps(step, _mm512_cvtepi32_ps(acc[r][c]), shift));
    }
  }
}

// All rows with C vectors of samples from sample b on, in tiles of 12, 4 and 1 rows.
template <size_t C>
void all_rows(const Int8Product& p, size_t b) {
  size_t a = 0;
  for (; a + 12 <= p.rows; a += 12) tile<12, C>(p, a, b);
  for (; a + 4 <= p.rows; a += 4) tile<4, C>(p, a, b);
  for (; a < p.rows; ++a) tile<1, C>(p, a, b);
}

// Element r is the sum over register v[r].
inline __m512i sum_each(const __m512i (&v)[kVector]) {
  // Adds in a tree, as sum_each() of avx512_kernels.h.
  __m512i pairs[8], fours[4];
  SLIDE_UNROLL
  for (int i = 0; i < 8; ++i) {
    pairs[i] = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]),
                                _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
  }
  SLIDE_UNROLL
  for (int i = 0; i < 4; ++i) {
    fours[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(pairs[2 * i], pairs[2 * i + 1]),
                                _mm512_unpackhi_epi64(pairs[2 * i], pairs[2 * i + 1]));
  }
  const __m512i low = _mm512_add_epi32(_mm512_shuffle_i32x4(fours[0], fours[1], 0x44),
                                       _mm512_shuffle_i32x4(fours[0], fours[1], 0xee));
  const __m512i high = _mm512_add_epi32(_mm512_shuffle_i32x4(fours[2], fours[3], 0x44),
                                        _mm512_shuffle_i32x4(fours[2], fours[3], 0xee));
  return _mm512_add_epi32(_mm512_shuffle_i32x4(low, high, 0x88), _mm512_shuffle_i32x4(low, high, 0xdd));
}

// z of up to 16 rows from row a on for a single sample, whose words are its bytes in order. Rows beyond the
// last are the last once more, and are not stored.
template <bool kAll>
void single_sample_tile(const Int8Product& p, size_t a) {
  const size_t rows = kAll ? kVector : p.rows - a;
  const std::int8_t* row[kVector];
  __m512i acc[kVector];
  SLIDE_UNROLL
  for (size_t r = 0; r < kVector; ++r) {
    row[r] = p.w.q + (a + (kAll || r < rows ? r : rows - 1)) * p.w.stride;
    acc[r] = _mm512_setzero_si512();
  }
  const size_t whole = p.x.columns / (4 * kVector) * (4 * kVector);
  for (size_t k = 0; k < whole; k += 4 * kVector) {
    const __m512i x = _mm512_loadu_si512(p.x.words + k / 4);
    SLIDE_UNROLL
    for (size_t r = 0; r < kVector; ++r)
      acc[r] = _mm512_dpbusd_epi32(acc[r], x, _mm512_loadu_si512(row[r] + k));
  }
  if (whole < p.x.columns) {
    const auto used = static_cast<__mmask16>((1u << (p.x.columns - whole) / 4) - 1);
    const __m512i x = _mm512_maskz_loadu_epi32(used, p.x.words + whole / 4);
    SLIDE_UNROLL
    for (size_t r = 0; r < kVector; ++r)
      acc[r] = _mm512_dpbusd_epi32(acc[r], x, _mm512_maskz_loadu_epi32(used, row[r] + whole));
  }
  const auto stored = static_cast<__mmask16>((1u << rows) - 1);
  const __m512i start =
      p.start == nullptr ? _mm512_setzero_si512() : _mm512_maskz_loadu_epi32(stored, p.start + a);
  const __m512i sums = _mm512_add_epi32(sum_each(acc), start);
  alignas(16) std::int8_t exponents[kVector] = {};
  for (size_t r = 0; r < rows; ++r) exponents[r] = p.w.exponents[a + r];
  const __m512i exponent = _mm512_cvtepi8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(exponents)));
  const __m512 factor =
      _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(exponent, _mm512_set1_epi32(127)), 23));
  const __m512 step = _mm512_mul_ps(factor, _mm512_set1_ps(p.x.steps[0]));
  const __m512 shift = _mm512_maskz_loadu_ps(stored, p.shift + a);
  _mm512_mask_storeu_ps(p.z + a, stored, _mm512_fmadd_ps(step, _mm512_cvtepi32_ps(sums), shift));
}

void single_sample_rows(const Int8Product& p) {
  size_t a = 0;
  for (; a + kVector <= p.rows; a += kVector) single_sample_tile<true>(p, a);
  if (a < p.rows) single_sample_tile<false>(p, a);
}

}  // namespace

void rows_forward_int8_dots(const Int8Rows& w, size_t rows, const std::int32_t* start, const float* shift,
                            const ByteSamples& x, float* z) {
  const Int8Product product{w, rows, start, shift, x, z};
  if (x.lanes == 1) return single_sample_rows(product);
  size_t b = 0;
  for (; b + 2 * kVector <= x.lanes; b += 2 * kVector) all_rows<2>(product, b);
  for (; b < x.lanes; b += kVector) all_rows<1>(product, b);
}

}  // namespace slide::kernels

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

// Sums of R rows from row a on with a single sample, whose words are its bytes in order.
template <size_t R>
void single_sample_sums(const Int8Product& p, size_t a, std::int32_t* sums) {
  __m512i acc[R];
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) acc[r] = _mm512_setzero_si512();
  const auto add = [&](size_t k, __mmask16 used) {
    const __m512i x = _mm512_maskz_loadu_epi32(used, p.x.words + k / 4);
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r)
      acc[r] =
          _mm512_dpbusd_epi32(acc[r], x, _mm512_maskz_loadu_epi32(used, p.w.q + (a + r) * p.w.stride + k));
  };
  size_t k = 0;
  for (; k + 4 * kVector <= p.x.columns; k += 4 * kVector) add(k, 0xffff);
  if (k < p.x.columns) add(k, static_cast<__mmask16>((1u << (p.x.columns - k) / 4) - 1));
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) sums[r] = _mm512_reduce_add_epi32(acc[r]);
}

// z of all rows for a single sample, eight rows at a time.
void single_sample_rows(const Int8Product& p) {
  constexpr size_t kRows = 8;
  std::int32_t sums[kRows];
  for (size_t a = 0; a < p.rows; a += kRows) {
    const size_t rows = p.rows - a < kRows ? p.rows - a : kRows;
    if (rows == kRows) {
      single_sample_sums<kRows>(p, a, sums);
    } else {
      for (size_t r = 0; r < rows; ++r) single_sample_sums<1>(p, a + r, sums + r);
    }
    for (size_t r = a; r < a + rows; ++r) {
      const std::int32_t sum = sums[r - a] + (p.start == nullptr ? 0 : p.start[r]);
      p.z[r] = p.shift[r] + _mm512_cvtss_f32(factor_of(p, r)) * p.x.steps[0] * static_cast<float>(sum);
    }
  }
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

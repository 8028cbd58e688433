// AVX2 with FMA: 8 floats per register, 16 registers.
#include <immintrin.h>

#include "engine/kernels/avx2_patterns.h"
#include "engine/kernels/products.h"
#include "engine/kernels/simd_kernels.h"

namespace slide::kernels {

namespace {
template <>
struct Tiles<Avx2Fma> {
  static constexpr size_t kForwardRows = 6;
  static constexpr size_t kForwardVectors = 2;  // of samples, held at once
  static constexpr size_t kBackwardSamples = 4;
  static constexpr size_t kBackwardVectors = 2;
  static constexpr size_t kGradientRows = 4;
  static constexpr size_t kGradientVectors = 2;
};

template <>
Vec<Avx2Fma> load_int8<Avx2Fma>(const std::int8_t* q) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(q))));
}

// rows_forward_int8 with products of 16 bits, two of which are added as they are multiplied: exact, and twice
// the rate of a fused multiply-add of fp32 on the processors whose ports for both are the same (Zen 3 and
// 4), 1.5 times it where three ports share products and sums (Skylake; Fog, instruction tables). Products of
// bytes (vpmaddubsw) would saturate.

template <>
constexpr bool kFastInt8<Avx2Fma> = true;

constexpr size_t kVector = 8;  // samples in a register
constexpr size_t kWords = 8;   // words of weights in a register
constexpr size_t kTileVectors = 2;

// Bytes 0 and 2 of each word of v as numbers of 16 bits, and bytes 1 and 3.
inline __m256i even_bytes(__m256i v) {
  return _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8);
}
inline __m256i odd_bytes(__m256i v) {
  return _mm256_srai_epi16(v, 8);
}

// Adds the products of some words of R rows, in `weights` as even_bytes and odd_bytes give them, with those
// of samples.
template <size_t R>
[[gnu::always_inline]] inline void add_words(const std::int32_t (&weights)[R][2][kWords],
                                             const uint32_t* words, size_t count, size_t lanes,
                                             __m256i (&acc)[R][kTileVectors]) {
  for (size_t u = 0; u < count; ++u) {
    __m256i even[kTileVectors], odd[kTileVectors];
    SLIDE_UNROLL
    for (size_t c = 0; c < kTileVectors; ++c) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + u * lanes + c * kVector));
      even[c] = _mm256_and_si256(x, _mm256_set1_epi32(0x00ff00ff));
      odd[c] = _mm256_srli_epi16(x, 8);
    }
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) {
      const __m256i first = _mm256_set1_epi32(weights[r][0][u]), second = _mm256_set1_epi32(weights[r][1][u]);
      SLIDE_UNROLL
      for (size_t c = 0; c < kTileVectors; ++c) {
        acc[r][c] = _mm256_add_epi32(acc[r][c], _mm256_madd_epi16(even[c], first));
        acc[r][c] = _mm256_add_epi32(acc[r][c], _mm256_madd_epi16(odd[c], second));
      }
    }
  }
}

// z tile of R rows from row a on x kTileVectors registers of samples from sample b on. Splits 32 weights of
// a row at a time into even and odd bytes for add_words(). The integer sums are scaled at the end: z = shift
// + factor * step * sum.
template <size_t R>
void int8_tile(const Int8Product& p, size_t a, size_t b) {
  const std::int8_t* row[R];
  __m256i acc[R][kTileVectors];
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    row[r] = p.w.q + (a + r) * p.w.stride;
    SLIDE_UNROLL
    for (size_t c = 0; c < kTileVectors; ++c)
      acc[r][c] = _mm256_set1_epi32(p.start == nullptr ? 0 : p.start[a + r]);
  }
  alignas(32) std::int32_t weights[R][2][kWords];
  for (size_t k = 0; k < p.x.columns; k += 4 * kWords) {
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) {
      const __m256i q =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row[r] + k));  // whole groups, padded
      _mm256_store_si256(reinterpret_cast<__m256i*>(weights[r][0]), even_bytes(q));
      _mm256_store_si256(reinterpret_cast<__m256i*>(weights[r][1]), odd_bytes(q));
    }
    add_words(weights, p.x.words + k / 4 * p.x.lanes + b, smaller(kWords, (p.x.columns - k) / 4), p.x.lanes,
              acc);
  }
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    const __m256 factor = _mm256_set1_ps(factor_of(p.w, a + r)), shift = _mm256_set1_ps(p.shift[a + r]);
    SLIDE_UNROLL
    for (size_t c = 0; c < kTileVectors; ++c) {
      const size_t sample = b + c * kVector;
      const __m256 step = _mm256_mul_ps(factor, _mm256_loadu_ps(p.x.steps + sample));
      _mm256_storeu_ps(p.z + (a + r) * p.x.lanes + sample,
                       _mm256_fmadd_ps(step, _mm256_cvtepi32_ps(acc[r][c]), shift));
    }
  }
}

// Element r is the sum over register v[r].
inline __m256i sum_each(const __m256i (&v)[kVector]) {
  const __m256i low = _mm256_hadd_epi32(_mm256_hadd_epi32(v[0], v[1]), _mm256_hadd_epi32(v[2], v[3]));
  const __m256i high = _mm256_hadd_epi32(_mm256_hadd_epi32(v[4], v[5]), _mm256_hadd_epi32(v[6], v[7]));
  return _mm256_add_epi32(_mm256_permute2x128_si256(low, high, 0x20),
                          _mm256_permute2x128_si256(low, high, 0x31));
}

// sums = products of 8 rows with a single sample, whose words are its bytes in order.
inline void single_sample_sums(const Int8Product& p, const std::int8_t* const (&row)[kVector],
                               std::int32_t (&sums)[kVector]) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(p.x.words);
  __m256i acc[kVector] = {};
  size_t k = 0;
  for (; k + 16 <= p.x.columns; k += 16) {
    const __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + k)));
    SLIDE_UNROLL
    for (size_t r = 0; r < kVector; ++r) {
      const __m256i w = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row[r] + k)));
      acc[r] = _mm256_add_epi32(acc[r], _mm256_madd_epi16(x, w));
    }
  }
  _mm256_store_si256(reinterpret_cast<__m256i*>(sums), sum_each(acc));
  for (; k < p.x.columns; ++k)
    for (size_t r = 0; r < kVector; ++r) sums[r] += static_cast<std::int32_t>(row[r][k]) * bytes[k];
}

// z of all rows for a single sample, eight rows at a time. Rows beyond the last are the last once more, and
// are not stored.
void single_sample_rows(const Int8Product& p) {
  const std::int8_t* row[kVector];
  alignas(32) std::int32_t sums[kVector];
  for (size_t a = 0; a < p.rows; a += kVector) {
    const size_t rows = smaller(kVector, p.rows - a);
    for (size_t r = 0; r < kVector; ++r) row[r] = p.w.q + smaller(a + r, p.rows - 1) * p.w.stride;
    single_sample_sums(p, row, sums);
    for (size_t r = 0; r < rows; ++r) {
      const std::int32_t sum = sums[r] + (p.start == nullptr ? 0 : p.start[a + r]);
      p.z[a + r] = p.shift[a + r] + factor_of(p.w, a + r) * p.x.steps[0] * static_cast<float>(sum);
    }
  }
}

template <>
void rows_forward_int8<Avx2Fma>(const Int8Rows& w, size_t rows, const std::int32_t* start, const float* shift,
                                const ByteSamples& x, float* z) {
  const Int8Product product{w, rows, start, shift, x, z};
  if (x.lanes == 1) return single_sample_rows(product);
  for (size_t b = 0; b < x.lanes; b += kTileVectors * kVector) {
    size_t a = 0;
    for (; a + 4 <= rows; a += 4) int8_tile<4>(product, a, b);
    for (; a < rows; ++a) int8_tile<1>(product, a, b);
  }
}
}  // namespace

extern const KernelSet kAvx2Kernels;
constinit const KernelSet kAvx2Kernels = make_kernel_set<Avx2Fma>("avx2");

}  // namespace slide::kernels

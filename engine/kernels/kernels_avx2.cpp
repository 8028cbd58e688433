// AVX2 with FMA: 8 floats per register, 16 registers.
#include <immintrin.h>

#include "engine/kernels/simd_kernels.h"

namespace slide::kernels {

namespace {
using Avx2Fma = xsimd::fma3<xsimd::avx2>;

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
}  // namespace

extern const KernelSet kAvx2Kernels;
constinit const KernelSet kAvx2Kernels = make_kernel_set<Avx2Fma>("avx2");

}  // namespace slide::kernels

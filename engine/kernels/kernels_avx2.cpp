// AVX2 with FMA, 8 floats a register, 16 registers.
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
}  // namespace

extern const KernelSet kAvx2Kernels;
constinit const KernelSet kAvx2Kernels = make_kernel_set<Avx2Fma>("avx2");

}  // namespace slide::kernels

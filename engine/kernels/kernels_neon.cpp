// 64-bit ARM NEON: 4 floats per register, 32 registers.
#include "engine/kernels/simd_kernels.h"

namespace slide::kernels {

namespace {
template <>
struct Tiles<xsimd::neon64> {
  static constexpr size_t kForwardRows = 8;
  static constexpr size_t kForwardVectors = 4;  // of samples, held at once
  static constexpr size_t kBackwardSamples = 4;
  static constexpr size_t kBackwardVectors = 4;
  static constexpr size_t kGradientRows = 4;
  static constexpr size_t kGradientVectors = 4;
};
}  // namespace

extern const KernelSet kNeonKernels;
constinit const KernelSet kNeonKernels = make_kernel_set<xsimd::neon64>("neon");

}  // namespace slide::kernels

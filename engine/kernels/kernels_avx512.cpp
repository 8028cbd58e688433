// AVX-512 F/CD/DQ/BW: 16 floats per register, 32 registers.
#include "engine/kernels/avx512_kernels.h"
#include "engine/kernels/simd_kernels.h"

namespace slide::kernels {

namespace {
template <>
struct Tiles<Avx512> {
  static constexpr size_t kForwardRows = 12;
  static constexpr size_t kForwardVectors = 4;  // of samples, held at once
  static constexpr size_t kBackwardSamples = 8;
  static constexpr size_t kBackwardVectors = 3;
  static constexpr size_t kGradientRows = 4;
  static constexpr size_t kGradientVectors = 4;
};
}  // namespace

extern const KernelSet kAvx512Kernels;
constinit const KernelSet kAvx512Kernels = make_kernel_set<Avx512>("avx512");

}  // namespace slide::kernels

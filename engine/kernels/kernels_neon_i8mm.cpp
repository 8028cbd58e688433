// rows_forward_int8 with dot products of unsigned by signed bytes (i8mm: ARMv8.6, Neoverse V1 and N2, Apple
// M2 and later). dispatch.cpp combines it with the neon kernels.
#include <type_traits>

#include "engine/kernels/neon_int8.h"

namespace slide::kernels {

// Also declared in dispatch.cpp.
std::remove_pointer_t<decltype(KernelSet::rows_forward_int8)> rows_forward_int8_mixed_dots;

namespace {

// Dots of neon_int8.h for unsigned samples and signed weights, which need no correction.
struct MixedDots {
  using Bytes = uint8x16_t;

  static Bytes load(const uint32_t* words) { return vreinterpretq_u8_u32(vld1q_u32(words)); }
  template <int L>
  static int32x4_t add(int32x4_t sums, Bytes x, int8x16_t w) {
    return vusdotq_laneq_s32(sums, x, w, L);
  }
  static int32x4_t add(int32x4_t sums, Bytes x, int8x16_t w) { return vusdotq_s32(sums, x, w); }
  static std::int32_t correction(const std::int8_t*, size_t) { return 0; }
};

}  // namespace

void rows_forward_int8_mixed_dots(const Int8Rows& w, size_t rows, const std::int32_t* start,
                                  const float* shift, const ByteSamples& x, float* z) {
  multiply_rows<MixedDots>({w, rows, start, shift, x, z});
}

}  // namespace slide::kernels

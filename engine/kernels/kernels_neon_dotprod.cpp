// rows_forward_int8 with dot products of signed bytes (asimddp: Neoverse N1, Apple M1 and
// later). dispatch.cpp combines it with the neon kernels.
#include <type_traits>

#include "engine/kernels/neon_int8.h"

namespace slide::kernels {

// Also declared in dispatch.cpp.
std::remove_pointer_t<decltype(KernelSet::rows_forward_int8)> rows_forward_int8_dots;

namespace {

// Dots of neon_int8.h. Both factors must be signed: a sample's byte x counts as x - 128, and 128 times the
// sum of a row's weights is added.
struct SignedDots {
  using Bytes = int8x16_t;

  static Bytes load(const uint32_t* words) {
    return vreinterpretq_s8_u8(veorq_u8(vreinterpretq_u8_u32(vld1q_u32(words)), vdupq_n_u8(0x80)));
  }
  template <int L>
  static int32x4_t add(int32x4_t sums, Bytes x, int8x16_t w) {
    return vdotq_laneq_s32(sums, x, w, L);
  }
  static int32x4_t add(int32x4_t sums, Bytes x, int8x16_t w) { return vdotq_s32(sums, x, w); }
  static std::int32_t correction(const std::int8_t* q, size_t columns) {
    int32x4_t sums = vdupq_n_s32(0);
    size_t k = 0;
    for (; k + kColumns <= columns; k += kColumns) sums = vdotq_s32(sums, vld1q_s8(q + k), vdupq_n_s8(1));
    std::int32_t sum = vaddvq_s32(sums);
    for (; k < columns; ++k) sum += q[k];
    return 128 * sum;
  }
};

}  // namespace

void rows_forward_int8_dots(const Int8Rows& w, size_t rows, const std::int32_t* start, const float* shift,
                            const ByteSamples& x, float* z) {
  multiply_rows<SignedDots>({w, rows, start, shift, x, z});
}

}  // namespace slide::kernels

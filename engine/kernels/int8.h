// Weights in int8, with a power-of-two factor per row:
//
//   weight k of row r is q[r * stride + k] * 2^exponents[r]
//
// Each weight is exactly representable in bfloat16. The stride is a multiple of kPairGroup (bf16.h) and
// padding columns are zero, so that kernels may read whole groups.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace slide::kernels {

struct Int8Rows {
  const std::int8_t* q = nullptr;
  std::size_t stride = 0;                  // in weights
  const std::int8_t* exponents = nullptr;  // from -126 to 120

  const std::int8_t* row(std::size_t r) const { return q + r * stride; }
};

// Activations of samples in uint8: word j * lanes + b holds columns 4j to 4j + 3 of sample b, the first in
// the lowest byte. A byte stands for its value times steps[b].
struct ByteSamples {
  const std::uint32_t* words = nullptr;
  const float* steps = nullptr;
  std::size_t columns = 0;  // a multiple of 4; padding is zero in the rows or in the samples
  std::size_t lanes = 0;
};

// Max columns of KernelSet::rows_forward_int8: sums of products of 255 and 128 fit in 32 bits.
inline constexpr std::size_t kMaxInt8Columns = INT32_MAX / (255 * 128);

// 2^exponent; multiplying by it does not round.
inline float int8_factor(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

}  // namespace slide::kernels

// Weights in a byte each, with a power of two for each row:
//
//   weight k of row r is q[r * stride + k] * 2^exponents[r]
//
// All are bfloat16 values. The stride is a multiple of kPairGroup (bf16.h); columns behind the last are zero,
// so that kernels may take whole groups.
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

// 2^exponent, which multiplies without rounding.
inline float int8_factor(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

}  // namespace slide::kernels

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

// Values of samples in a byte each: word j * lanes + b holds columns 4j to 4j + 3 of sample b, the first in
// its lowest byte, from 0 to 255. One is worth steps[b] times that.
struct ByteSamples {
  const std::uint32_t* words = nullptr;
  const float* steps = nullptr;
  std::size_t columns = 0;  // a multiple of 4; those behind a row's last are zero here or there
  std::size_t lanes = 0;
};

// 2^exponent, which multiplies without rounding.
inline float int8_factor(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

}  // namespace slide::kernels

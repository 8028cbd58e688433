// int8 quantization of rows with a power-of-two factor per row:
//
//   number c is q[c] * 2^e, q[c] from -127 to 127
//
// e is the least exponent from -126 to 120 for which no |number| of the row exceeds 127 * 2^e; q[c] is
// rounded to nearest, ties to even. The error is at most 2^(e - 1), below 1/127 of the row's largest |number|
// (unless that is below 2^-120). Dequantized values are exact in bfloat16; quantizing them again changes
// nothing.
//
// Functions are safe from any thread.
#pragma once

#include <cstdint>
#include <span>

namespace slide {

inline constexpr int kMinExponent = -126, kMaxExponent = 120;

// Exponent e of a row of finite numbers; 0 for a row of zeros.
int int8_exponent(std::span<const float> row);
// Quantizes a row to q [row.size()].
void to_int8(std::span<const float> row, int exponent, std::int8_t* q);
// Whether all exponents are in [kMinExponent, kMaxExponent].
bool are_int8_exponents(std::span<const std::int8_t> exponents);
// Dequantizes q to `row`; `exponent` is in [kMinExponent, kMaxExponent].
void from_int8(const std::int8_t* q, int exponent, std::span<float> row);

}  // namespace slide

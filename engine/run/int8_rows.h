// Rows of numbers in a byte each, with a power of two for the row:
//
//   number c is q[c] * 2^e, q[c] from -127 to 127
//
// e is the least, from -126 to 120, with which no number of the row is larger than 127 * 2^e in size, and
// q[c] the nearest, of two the even. So no number is off by more than 2^(e - 1), which is less than 1/127 of
// the row's largest (unless that is below 2^-120). All that come back are bfloat16 values, and going through
// it once more changes nothing.
//
// Functions may be called from any thread.
#pragma once

#include <cstdint>
#include <span>

namespace slide {

inline constexpr int kMinExponent = -126, kMaxExponent = 120;

// e of a row of finite numbers; 0 where there is none but 0.
int int8_exponent(std::span<const float> row);
// q of a row, as many as `row` has.
void to_int8(std::span<const float> row, int exponent, std::int8_t* q);
// Whether all are such exponents.
bool are_int8_exponents(std::span<const std::int8_t> exponents);
// The row of q. `exponent` is one of those above.
void from_int8(const std::int8_t* q, int exponent, std::span<float> row);

}  // namespace slide

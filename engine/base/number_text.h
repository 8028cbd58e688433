// Fast formatting of numbers, with the same output as the format library. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slide {

inline constexpr std::size_t kNumberRoom = 18;  // max characters, plus slack that may be overwritten

// Writes `value` as "{}" to `out`, which has room for kNumberRoom characters; returns the end of the text.
char* write_whole(std::uint32_t value, char* out);
// The same for "{:.6g}", six significant digits.
char* write_six_digits(double value, char* out);

// The number that the text of write_six_digits() says.
double six_digits_of(double value);

}  // namespace slide

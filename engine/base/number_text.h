// Numbers as text where there are many of them: the characters of the format library, several times as fast.
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace slide {

inline constexpr std::size_t kNumberRoom = 18;  // characters, and what may be written behind them

// Writes `value` as "{}" to `out`, where there must be kNumberRoom, and returns the end of the text.
char* write_whole(std::uint32_t value, char* out);
// Likewise as "{:.6g}", with six significant digits.
char* write_six_digits(double value, char* out);

// Appends that to `text`.
inline void append_six_digits(double value, std::string& text) {
  char digits[kNumberRoom];
  text.append(digits, write_six_digits(value, digits));
}

}  // namespace slide

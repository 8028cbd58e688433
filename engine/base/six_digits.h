// Numbers as text of six significant digits: what "{:.6g}" makes of them, several times as fast. Pure
// functions.
#pragma once

#include <cstddef>
#include <string>

namespace slide {

inline constexpr std::size_t kMostSixDigits = 16;  // characters, and what is written behind them

// Writes `value` to `out`, where there is room for kMostSixDigits characters, and returns their end.
char* write_six_digits(double value, char* out);

// Appends it to `text`.
inline void append_six_digits(double value, std::string& text) {
  char digits[kMostSixDigits];
  text.append(digits, write_six_digits(value, digits));
}

}  // namespace slide

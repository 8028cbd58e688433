// Fast number parser, eight digits at a time. Pure functions, safe from any thread.
//
// Functions may read up to kReadAhead bytes past the end of the number: the text must be readable that far,
// and a byte that cannot belong to a number (blank, line end) must follow the number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/base/number_text.h"

namespace slide {

inline constexpr std::size_t kReadAhead = 16;  // bytes

inline constexpr std::uint64_t kIdTooLarge = ~std::uint64_t{0};

// Leading digits of a text, at most eight.
struct LeadingDigits {
  std::uint64_t value = 0;
  unsigned count = 0;
};

inline LeadingDigits leading_digits(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  word ^= 0x3030303030303030ULL;  // digits become 0..9, all other bytes exceed 9
  // The high bit of each byte that exceeds 9, exact up to the first one: adding 0x76 sets it from 10 on.
  const std::uint64_t stops = ((word + 0x7676767676767676ULL) | word) & 0x8080808080808080ULL;
  if ((stops & 0x80) != 0) return {};
  const auto count = static_cast<unsigned>(stops == 0 ? 8 : std::countr_zero(stops) / 8);
  word <<= 8 * (8 - count);  // replaces the bytes after the digits by leading zeros
  // Joins digits to pairs, and the four pairs to a number by two multiplications (D. Lemire, "Quickly parsing
  // eight digits", 2018): each adds two pairs, times 10^6 and 100, or 10^4 and 1, in the upper half.
  word = word * 10 + (word >> 8);
  const std::uint64_t mask = 0x000000ff000000ffULL;
  const std::uint64_t high = (word & mask) * 0x000f424000000064ULL;         // 100 + (10^6 << 32)
  const std::uint64_t low = ((word >> 16) & mask) * 0x0000271000000001ULL;  // 1 + (10^4 << 32)
  return {(high + low) >> 32, count};
}

// Parses an id of more than eight digits; kIdTooLarge beyond sixteen.
const char* parse_long_id(const char* text, std::uint64_t& id);

// Parses an unsigned integer; returns its end, or `text` where there is no digit.
inline const char* parse_id(const char* text, std::uint64_t& id) {
  const LeadingDigits digits = leading_digits(text);
  if (digits.count == 8) [[unlikely]] {
    return parse_long_id(text, id);
  }
  id = digits.value;
  return text + digits.count;
}

enum class NumberFault : std::uint8_t { kNone, kNoNumber, kNotFinite, kTooLarge };

struct ParsedFloat {
  float value = 0;
  NumberFault fault = NumberFault::kNone;
  const char* end = nullptr;  // after the number
};

inline constexpr std::uint64_t kPowersOfTen[] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
};

// General case of parse_float().
ParsedFloat parse_any_float(const char* text, const char* limit);

// Whether `value` is so close to the midpoint of two floats that an error of a few units in its last place
// could change its rounding to float.
inline bool near_float_midpoint(double value) {
  const std::uint64_t tail = std::bit_cast<std::uint64_t>(value) & 0x1fffffffULL;
  return tail - 0x0ffffff8ULL <= 0x10ULL;
}

// Parses a decimal number [+-]digits[.digits][e[+-]digits], rounded to the nearest float; reads nothing at or
// beyond `limit`. NaN, infinity and overflow are faults; underflow gives zero.
//
// Fast path: up to 7 digits before and 15 after the point, 18 in all, as an integer over a power of ten.
// Numbers of more digits, with an exponent, or near the middle of two floats go to parse_any_float().
inline ParsedFloat parse_float(const char* text, const char* limit) {
  const bool negative = *text == '-';
  const char* p = text + (negative || *text == '+');
  LeadingDigits whole = {static_cast<std::uint64_t>(p[0] - '0'), 1};
  if (!is_digit(p[0]) || is_digit(p[1])) whole = leading_digits(p);
  p += whole.count;
  LeadingDigits fraction;
  if (*p == '.') {
    fraction = leading_digits(++p);
    p += fraction.count;
    if (fraction.count == 8) {
      const LeadingDigits more = leading_digits(p);
      p += more.count;
      fraction.value = fraction.value * kPowersOfTen[more.count] + more.value;
      fraction.count += more.count;
    }
  }
  const unsigned digits = whole.count + fraction.count;
  const bool longer = whole.count == 8 || fraction.count == 16 || digits > 18 || (*p | 32) == 'e';
  if (longer || digits == 0) [[unlikely]] {
    return parse_any_float(text, limit);
  }
  const auto scale = static_cast<std::int64_t>(kPowersOfTen[fraction.count]);
  const auto mantissa =
      static_cast<std::int64_t>(whole.value) * scale + static_cast<std::int64_t>(fraction.value);
  const double magnitude = static_cast<double>(mantissa) / static_cast<double>(scale);
  if (near_float_midpoint(magnitude)) [[unlikely]] {
    return parse_any_float(text, limit);
  }
  const auto value = static_cast<float>(magnitude);
  return {negative ? -value : value, NumberFault::kNone, p};
}

}  // namespace slide

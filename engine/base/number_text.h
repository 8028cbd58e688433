// Numbers from texts, and fast formatting of numbers with the same output as the format library. Pure
// functions.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace slide {

inline constexpr std::string_view kDigits = "0123456789";

inline bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}

// Whether `text` is digits alone, at least one.
inline bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

// The number that `text` is as a whole, as std::from_chars reads it; nullopt for any other text and for
// numbers out of the range of T. Infinity and NaN are numbers.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

inline constexpr std::size_t kNumberRoom = 18;  // max characters, plus slack that may be overwritten

// Writes `value` as "{}" to `out`, which has room for kNumberRoom characters; returns the end of the text.
char* write_whole(std::uint32_t value, char* out);
// The same for "{:.6g}", six significant digits.
char* write_six_digits(double value, char* out);

// The number that the text of write_six_digits() says.
double six_digits_of(double value);

}  // namespace slide

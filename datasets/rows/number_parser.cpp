#include "datasets/rows/number_parser.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace slide {

namespace {

constexpr bool ends_word(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool starts_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if ((text[i] | 32) != word[i]) return false;
  }
  return true;
}

// Whether a number out of float range overflows rather than underflows: its first significant digit is
// `order` places left of the point, exponent included.
bool is_large(std::string_view number) {
  const std::size_t mark = number.find_first_of("eE");
  const std::string_view digits = number.substr(0, mark);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const std::size_t point = digits.find('.') == std::string_view::npos ? digits.size() : digits.find('.');
  long long order = static_cast<long long>(point) - static_cast<long long>(first);
  if (mark != std::string_view::npos) {
    std::string_view text = number.substr(mark + 1);
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    long long exponent = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (result.ec == std::errc::result_out_of_range) exponent = 1LL << 60;
    order += negative ? -exponent : exponent;
  }
  return order > 0;
}

}  // namespace

const char* parse_long_id(const char* text, std::uint64_t& id) {
  const LeadingDigits first = leading_digits(text);
  const LeadingDigits second = leading_digits(text + first.count);
  const char* end = text + first.count + second.count;
  id = first.value * kPowersOfTen[second.count] + second.value;
  for (; is_digit(*end); ++end) id = kIdTooLarge;
  return end;
}

// Parses by std::from_chars, which rounds correctly but is slower. Values too small for a float are 0.
ParsedFloat parse_any_float(const char* text, const char* limit) {
  const char* end = text;
  while (end < limit && !ends_word(*end)) ++end;
  const bool negative = text < end && *text == '-';
  const char* start = text + (negative || (text < end && *text == '+'));
  const std::string_view token(start, static_cast<std::size_t>(end - start));
  if (starts_with_word(token, "nan") || starts_with_word(token, "inf")) {
    return {0, NumberFault::kNotFinite, text};
  }
  if (token.empty() || (!is_digit(token[0]) && token[0] != '.')) return {0, NumberFault::kNoNumber, text};
  float value = 0;
  const auto [stop, fault] = std::from_chars(start, end, value);
  if (fault == std::errc::invalid_argument) return {0, NumberFault::kNoNumber, text};
  if (fault == std::errc::result_out_of_range) {
    if (is_large({start, static_cast<std::size_t>(stop - start)})) return {0, NumberFault::kTooLarge, text};
    value = 0;
  }
  return {negative ? -value : value, NumberFault::kNone, stop};
}

}  // namespace slide

#include "engine/base/six_digits.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace slide {

namespace {

constexpr int kMostPower = 22;  // powers of ten up to here are doubles
constexpr std::array<double, kMostPower + 1> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
// A product with such a power is rounded once, so wrong by less than this below a million.
constexpr double kError = 1e-9;

struct Decimal {
  std::uint32_t digits;  // six, the first not 0
  int exponent;          // of the first
};

// Three digits each.
constexpr std::array<char, 3000> kTriples = [] {
  std::array<char, 3000> triples{};
  for (std::size_t n = 0; n < 1000; ++n) {
    triples[3 * n] = static_cast<char>('0' + n / 100);
    triples[3 * n + 1] = static_cast<char>('0' + n / 10 % 10);
    triples[3 * n + 2] = static_cast<char>('0' + n % 10);
  }
  return triples;
}();

// The nearest decimal; false where that takes more exact arithmetic. `value` is positive.
bool to_decimal(double value, Decimal& decimal) {
  const auto bits = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52) - 1023;  // floor(log2(value))
  int exponent = (bits * 1233) >> 12;  // floor(log10(2^bits)): of the value, or one less
  if (exponent < 5 - kMostPower || exponent > 4) return false;
  double scaled = value * kPowers[static_cast<std::size_t>(5 - exponent)];
  if (scaled >= 1e6) scaled = value * kPowers[static_cast<std::size_t>(5 - ++exponent)];
  scaled += 0.5;
  decimal.digits = static_cast<std::uint32_t>(scaled);
  const double above = scaled - decimal.digits;
  if (above < kError || above > 1.0 - kError) return false;
  if (decimal.digits == 1000000) decimal.digits = 100000, ++exponent;
  decimal.exponent = exponent;
  return true;
}

// Takes zeros behind the point off the text that ends at `end`, and the point when nothing is left behind it.
char* without_zeros(char* end) {
  while (end[-1] == '0') --end;
  return end[-1] == '.' ? end - 1 : end;
}

// The digits with a point behind the first `whole` of them. Copies are of one length, so that they need no
// call.
char* write_pointed(const char* digits, std::size_t whole, char* out) {
  std::memcpy(out, digits, 6);
  std::memcpy(out + whole + 1, digits + whole, 6);
  out[whole] = '.';
  return without_zeros(out + 7);
}

char* write_decimal(const Decimal& decimal, char* out) {
  char digits[12] = {};  // and what is copied too much
  std::memcpy(digits, kTriples.data() + decimal.digits / 1000 * 3, 3);
  std::memcpy(digits + 3, kTriples.data() + decimal.digits % 1000 * 3, 3);
  const int exponent = decimal.exponent;
  if (exponent >= 0 && exponent < 6)
    return write_pointed(digits, static_cast<std::size_t>(exponent) + 1, out);
  if (exponent < 0 && exponent >= -4) {
    std::memcpy(out, "0.000", 5);
    std::memcpy(out + 1 - exponent, digits, 6);
    return without_zeros(out + 7 - exponent);
  }
  out = write_pointed(digits, 1, out);
  const int size = exponent < 0 ? -exponent : exponent;  // of two digits
  *out++ = 'e';
  *out++ = exponent < 0 ? '-' : '+';
  *out++ = static_cast<char>('0' + size / 10);
  *out++ = static_cast<char>('0' + size % 10);
  return out;
}

}  // namespace

char* write_six_digits(double value, char* out) {
  Decimal decimal{};
  const bool negative = value < 0;
  if (!to_decimal(negative ? -value : value, decimal)) return fmt::format_to(out, "{:.6g}", value);
  *out = '-';
  return write_decimal(decimal, out + (negative ? 1 : 0));
}

}  // namespace slide

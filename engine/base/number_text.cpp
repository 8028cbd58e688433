#include "engine/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace slide {

namespace {

constexpr int kFractionBits = 30;  // of numbers below a million, as fixed point
constexpr double kOne = 1 << kFractionBits;
constexpr int kMaxPower = 22;  // powers up to here, also times kOne, are exact doubles
constexpr std::array<double, kMaxPower + 1> kPowers = [] {
  std::array<double, kMaxPower + 1> powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  for (double& power : powers) power *= kOne;
  return powers;
}();
// Error bound: a product with such a power is rounded once, by less than a quarter of the last bit, then
// truncated.
constexpr std::uint64_t kError = 2;

struct Decimal {
  std::uint32_t digits;  // six digits, the first nonzero
  int exponent;          // of the first digit
};

// Text is assembled in registers, the first character in the lowest byte.
static_assert(std::endian::native == std::endian::little);
constexpr std::uint64_t kZeros = 0x303030303030;  // six '0'

// The three characters of each number below 1,000.
constexpr std::array<std::uint32_t, 1000> kTriples = [] {
  std::array<std::uint32_t, 1000> triples{};
  for (std::uint32_t n = 0; n < 1000; ++n)
    triples[n] = ('0' + n / 100) | ('0' + n / 10 % 10) << 8 | ('0' + n % 10) << 16;
  return triples;
}();

// Nearest decimal; returns false where more precise arithmetic is required. `value` is positive.
bool to_decimal(double value, Decimal& decimal) {
  const auto bits = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52) - 1023;  // floor(log2(value))
  int exponent = (bits * 1233) >> 12;  // floor(log10(2^bits)): exponent of the value, or one less
  if (exponent < 5 - kMaxPower || exponent > 4) return false;
  double scaled = value * kPowers[static_cast<std::size_t>(5 - exponent)];
  if (scaled >= 1e6 * kOne) scaled = value * kPowers[static_cast<std::size_t>(5 - ++exponent)];
  constexpr auto kUnit = std::uint64_t{1} << kFractionBits;
  const auto rounded = static_cast<std::uint64_t>(static_cast<std::int64_t>(scaled)) + kUnit / 2;
  decimal.digits = static_cast<std::uint32_t>(rounded >> kFractionBits);
  if ((rounded + kError) % kUnit < 2 * kError) return false;
  if (decimal.digits == 1000000) decimal.digits = 100000, ++exponent;
  decimal.exponent = exponent;
  return true;
}

// Six characters of a number below 1,000,000, zero-padded.
std::uint64_t six_characters(std::uint32_t number) {
  return kTriples[number / 1000] | std::uint64_t{kTriples[number % 1000]} << 24;
}

// Writes the digits with a point after the first `whole`, without trailing zeros and without a trailing
// point.
char* write_pointed(std::uint64_t digits, std::size_t length, std::size_t whole, char* out) {
  const std::uint64_t behind = digits >> (8 * whole);
  std::memcpy(out, &digits, 8);
  std::memcpy(out + whole + 1, &behind, 8);
  out[whole] = '.';
  return out + (length > whole ? length + 1 : whole);
}

char* write_power(int exponent, char* out) {
  const auto size = static_cast<std::uint32_t>(exponent < 0 ? -exponent : exponent);  // has two digits
  constexpr std::uint32_t kMinus = 0x2d, kPlus = 0x2b;
  const std::uint32_t sign = exponent < 0 ? kMinus : kPlus;
  const std::uint32_t text = 'e' | sign << 8 | ('0' + size / 10) << 16 | ('0' + size % 10) << 24;
  std::memcpy(out, &text, 4);
  return out + 4;
}

// As %g does: a plain number for exponents -4 to 5, else with a power of ten.
char* write_decimal(const Decimal& decimal, char* out) {
  const std::uint64_t digits = six_characters(decimal.digits);
  // Characters up to the last one that is not '0'.
  const auto length = static_cast<std::size_t>(std::bit_width(digits ^ kZeros) + 7) / 8;
  const int exponent = decimal.exponent;
  if (exponent >= 0 && exponent < 6)
    return write_pointed(digits, length, static_cast<std::size_t>(exponent) + 1, out);
  if (exponent >= 0 || exponent < -4) return write_power(exponent, write_pointed(digits, length, 1, out));
  std::copy_n("0.000", 5, out);
  out += 1 - exponent;
  std::memcpy(out, &digits, 8);
  return out + length;
}

[[gnu::cold, gnu::noinline]] char* write_exactly(double value, char* out) {
  return fmt::format_to(out, "{:.6g}", value);
}

}  // namespace

// Six digits without their leading zeros, in one store; larger numbers by the standard library.
char* write_whole(std::uint32_t value, char* out) {
  if (value >= 1000000) return std::to_chars(out, out + kNumberRoom, value).ptr;
  const std::uint64_t digits = six_characters(value);
  const std::uint64_t last = std::uint64_t{1} << 40;  // a bit of the last digit, which stays also as a zero
  const auto zeros =
      static_cast<std::size_t>(std::countr_zero((digits ^ kZeros) | last)) / 8;  // leading ones
  const std::uint64_t text = digits >> (8 * zeros);
  std::memcpy(out, &text, 8);
  return out + 6 - zeros;
}

char* write_six_digits(double value, char* out) {
  Decimal decimal{};
  const bool negative = value < 0;
  if (!to_decimal(negative ? -value : value, decimal)) return write_exactly(value, out);
  *out = '-';
  return write_decimal(decimal, out + (negative ? 1 : 0));
}

double six_digits_of(double value) {
  std::array<char, kNumberRoom> text;
  const char* const end = write_six_digits(value, text.data());
  std::from_chars(text.data(), end, value);
  return value;
}

}  // namespace slide

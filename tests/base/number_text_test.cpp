// Tests of number formatting against the format library: equal characters for every number.
#include "engine/base/number_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "engine/base/rng.h"

namespace slide::test {
namespace {

void expect_same(double value) {
  for (const double signed_value : {value, -value}) {
    char text[kNumberRoom];
    ASSERT_EQ(std::string(text, write_six_digits(signed_value, text)), fmt::format("{:.6g}", signed_value))
        << std::bit_cast<std::uint64_t>(signed_value);
  }
}

TEST(WholeNumber, IsThatOfTheFormatLibrary) {
  Rng rng(1, Purpose::kTest);
  for (std::uint32_t i = 0; i < 1200000; ++i) {
    const std::uint32_t value = i < 1100000 ? i : ~0U - rng.below(~0U) / (1U << i % 12);
    char text[kNumberRoom];
    const fmt::format_int expected(value);
    ASSERT_EQ(std::string_view(text, write_whole(value, text)),
              std::string_view(expected.data(), expected.size()));
  }
}

TEST(SixDigits, OddNumbers) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, Limits::infinity(), Limits::quiet_NaN(), Limits::min(), Limits::max(),
                             Limits::denorm_min(), 1.0, 0.5, 2.0 / 3.0, 123456.5, 1234565.0, 0.0001})
    expect_same(value);
}

// Powers of ten, halves of the last digit, and adjacent numbers, where digits and lengths change.
TEST(SixDigits, EdgesOfDigits) {
  for (int power = -25; power <= 25; ++power) {
    for (const double digits : {1.0, 1.5, 1.00001, 1.000005, 1.23456, 1.234565, 9.0, 9.99999, 9.999985,
                                9.999995, 9.9999949999999, 9.9999950000001, 5.0, 4.99999}) {
      const double value = digits * std::pow(10.0, power);
      expect_same(value);
      expect_same(std::nextafter(value, 0.0));
      expect_same(std::nextafter(value, 1e300));
    }
  }
}

TEST(SixDigits, AreReadBack) {
  EXPECT_EQ(six_digits_of(0.12345649), 0.123456);
  EXPECT_EQ(six_digits_of(-1234567.0), -1234570.0);
  EXPECT_EQ(six_digits_of(0.0), 0.0);
}

TEST(SixDigits, AnyNumbers) {
  Rng rng(1, Purpose::kTest);
  const auto bits = [&] { return std::uint64_t{rng.below(0xffffffffU)} << 32 | rng.below(0xffffffffU); };
  for (int i = 0; i < 200000; ++i) {
    expect_same(std::fabs(std::bit_cast<double>(bits())));               // any magnitude
    expect_same(std::ldexp(static_cast<double>(bits()), -44 - i % 80));  // 2^-60 to 2^20
    expect_same(static_cast<double>(rng.below(20000001)) * 0.5 /
                (1 << i % 12));  // often midway between two decimals
    expect_same(std::round(std::ldexp(static_cast<double>(bits()), -44)) / 1e6);  // few digits
  }
}

}  // namespace
}  // namespace slide::test

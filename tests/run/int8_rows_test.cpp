// Tests of int8 rows: quantization errors, and idempotence.
#include "engine/model/int8_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <random>
#include <vector>

#include "engine/kernels/bf16.h"

namespace slide {
namespace {

std::vector<float> rounded(const std::vector<float>& row) {
  std::vector<std::int8_t> q(row.size());
  std::vector<float> back(row.size());
  const int exponent = int8_exponent(row);
  to_int8(row, exponent, q.data());
  EXPECT_EQ(std::ranges::count(q, -128), 0);
  from_int8(q.data(), exponent, back);
  return back;
}

std::vector<float> drawn(std::size_t size, float scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> row(size);
  for (float& x : row) x = normal(random);
  return row;
}

TEST(Int8Rows, AreOffByLessThanA127thOfTheLargest) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::vector<float> row = drawn(1 + seed % 70, std::exp2(float(seed % 50) - 25.0f), seed);
    const std::vector<float> back = rounded(row);
    float largest = 0, off = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      largest = std::max(largest, std::fabs(row[i]));
      off = std::max(off, std::fabs(row[i] - back[i]));
      EXPECT_EQ(back[i], kernels::nearest_bf16(back[i]));
    }
    EXPECT_LE(off, std::ldexp(0.5f, int8_exponent(row)));
    EXPECT_LT(off, largest / 127);
    EXPECT_EQ(rounded(back), back);
  }
}

TEST(Int8Rows, TheExponentIsTheLeast) {
  EXPECT_EQ(int8_exponent(std::vector<float>{127, -3}), 0);
  EXPECT_EQ(int8_exponent(std::vector<float>{std::nextafter(127.0f, 128.0f)}), 1);
  EXPECT_EQ(int8_exponent(std::vector<float>{0.5f, -63.5f}), -1);
  EXPECT_EQ(int8_exponent(std::vector<float>{0, 0}), 0);
  EXPECT_EQ(int8_exponent(std::vector<float>{}), 0);
}

TEST(Int8Rows, TheEndsOfFloatsStayFinite) {
  EXPECT_EQ(rounded({FLT_MAX, -FLT_MAX, 1}), (std::vector<float>{0x1.fcp126f, -0x1.fcp126f, 0}));
  EXPECT_EQ(rounded({FLT_TRUE_MIN, 0x1p-126f}), (std::vector<float>{0, 0x1p-126f}));
  EXPECT_TRUE(are_int8_exponents(std::vector<std::int8_t>{-126, 0, 120}));
  EXPECT_FALSE(are_int8_exponents(std::vector<std::int8_t>{0, 121}));
  EXPECT_FALSE(are_int8_exponents(std::vector<std::int8_t>{-127}));
}

}  // namespace
}  // namespace slide

// Tests of int8 rows: every set against the scalar one, and that against double arithmetic, at every length.
#include "engine/kernels/int8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/base/rng.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/kernel_sets.h"

namespace slide::kernels {
namespace {

constexpr std::size_t kByteLengths = 200;

// Rows of n numbers from -127 to 127, with exponents from the least to the largest possible in a model.
struct ByteMatrix {
  ByteMatrix(std::size_t rows, std::size_t n)
      : stride((n + kPairGroup - 1) / kPairGroup * kPairGroup + kPairGroup * (n % 2)),  // rows may have gaps
        q(rows * stride, 0),
        exponents(rows) {
    Rng rng(1, Purpose::kTest, n);
    for (std::size_t r = 0; r < rows; ++r) {
      exponents[r] = static_cast<std::int8_t>(static_cast<int>(r * 5 % 17) - 9);
      for (std::size_t k = 0; k < n; ++k)
        q[r * stride + k] = static_cast<std::int8_t>(static_cast<int>(rng.next() % 255) - 127);
    }
  }
  Int8Rows rows() const { return {q.data(), stride, exponents.data()}; }
  double value(std::size_t r, std::size_t k) const {
    return std::ldexp(static_cast<double>(q[r * stride + k]), exponents[r]);
  }

  std::size_t stride;
  std::vector<std::int8_t> q, exponents;
};

class Int8 : public testing::TestWithParam<const KernelSet*> {};

TEST_P(Int8, RowsAreWidenedAndPairedExactly) {
  for (std::size_t n = 0; n < kByteLengths; ++n) {
    const ByteMatrix matrix(4, n);
    for (std::size_t r = 0; r < 4; ++r) {
      test::Floats x(n);
      GetParam()->widen_int8(matrix.rows(), r, n, x.data());
      ASSERT_TRUE(x.intact()) << n;
      const std::size_t words = (n + kPairGroup - 1) / kPairGroup * kPairGroup / 2;
      test::Guarded<std::uint32_t> pairs(words);
      GetParam()->pair_int8(matrix.rows(), r, n, pairs.data());
      ASSERT_TRUE(pairs.intact()) << n;
      for (std::size_t k = 0; k < n; ++k) {
        ASSERT_EQ(x[k], matrix.value(r, k)) << n << ", " << k;
        ASSERT_EQ(pair_value(pairs.data(), k), matrix.value(r, k)) << n << ", " << k;
      }
      for (std::size_t k = n; k < 2 * words; ++k) ASSERT_EQ(pair_value(pairs.data(), k), 0.0f) << n;
    }
  }
}

TEST_P(Int8, StepsReachAsFarAsAFileMayHoldThem) {
  const std::vector<std::int8_t> q(32, -127), exponents = {-126, 120};
  const Int8Rows rows{q.data(), 0, exponents.data()};
  std::vector<float> x(32);
  for (const std::size_t r : {0, 1}) {
    GetParam()->widen_int8(rows, r, 32, x.data());
    for (const float value : x) ASSERT_EQ(value, -127 * std::ldexp(1.0f, exponents[r]));
  }
}

TEST_P(Int8, GatherRowsAtEveryLength) {
  constexpr std::size_t kRows = 12;
  for (std::size_t n = 0; n < kByteLengths; ++n) {
    const ByteMatrix matrix(kRows, n);
    for (const std::size_t count : {0, 1, 3, 9, 40}) {
      std::vector<std::uint32_t> ids(count);
      for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::uint32_t>(i * 7 % kRows);
      const test::Floats values = test::normal_floats(count, 50);
      const test::Floats before = test::normal_floats(n, 60);
      test::Floats got(n), scalar(n);
      std::copy_n(before.data(), n, got.data());
      std::copy_n(before.data(), n, scalar.data());
      GetParam()->gather_rows_int8(matrix.rows(), ids.data(), values.data(), count, n, got.data());
      find("scalar")->gather_rows_int8(matrix.rows(), ids.data(), values.data(), count, n, scalar.data());
      ASSERT_TRUE(got.intact()) << n;
      for (std::size_t k = 0; k < n; ++k) {
        double want = before[k], magnitude = std::fabs(want);
        for (std::size_t i = 0; i < count; ++i) {
          want += values[i] * matrix.value(ids[i], k);
          magnitude += std::fabs(values[i] * matrix.value(ids[i], k));
        }
        const double bound = test::rounding_bound(count, magnitude);
        ASSERT_NEAR(got[k], want, bound) << n << ", " << count << ", " << k;
        ASSERT_NEAR(got[k], scalar[k], 2 * bound) << n << ", " << count << ", " << k;
      }
    }
  }
}

TEST_P(Int8, DotsAreAddedToWhatIsThere) {
  constexpr std::size_t kRows = 90;
  for (const std::size_t n : {0, 32, 64, 96, 128, 224, 544}) {
    const ByteMatrix matrix(kRows, n);
    const test::Floats x = test::normal_floats(n, n + 1);
    for (std::size_t rows = 0; rows < 70; ++rows) {
      const std::vector<std::uint32_t> ids = test::scattered_ids(rows, kRows);
      const test::Floats before = test::normal_floats(rows, 7);
      test::Floats got(rows), scalar(rows);
      std::copy_n(before.data(), rows, got.data());
      std::copy_n(before.data(), rows, scalar.data());
      GetParam()->add_dots_int8(matrix.rows(), ids.data(), rows, x.data(), n, got.data());
      find("scalar")->add_dots_int8(matrix.rows(), ids.data(), rows, x.data(), n, scalar.data());
      ASSERT_TRUE(got.intact()) << n << ", " << rows;
      for (std::size_t a = 0; a < rows; ++a) {
        double want = before[a], magnitude = std::fabs(want);
        for (std::size_t k = 0; k < n; ++k) {
          want += matrix.value(ids[a], k) * x[k];
          magnitude += std::fabs(matrix.value(ids[a], k) * x[k]);
        }
        const double bound = test::rounding_bound(n, magnitude);
        ASSERT_NEAR(got[a], want, bound) << n << ", " << rows << ", " << a;
        ASSERT_NEAR(got[a], scalar[a], 2 * bound) << n << ", " << rows << ", " << a;
      }
    }
  }
}

// Normal numbers, midpoints between two int8 values, and extreme numbers.
TEST_P(Int8, NarrowingTakesTheNearestOfTheFinestSteps) {
  for (std::size_t n = 0; n < kByteLengths; ++n) {
    for (const float scale : {1.0f, 0x1p-140f, 0x1p-120f, 0x1p100f, 0x1p127f / 4}) {
      test::Floats x = test::normal_floats(n, n + 7);
      for (std::size_t k = 0; k < n; ++k) {
        x[k] = std::clamp(x[k], -3.9f, 3.9f);
        if (k % 3 == 1) x[k] = 0x1p-5f * (std::nearbyint(16 * x[k]) + 0.5f);
        x[k] *= scale;
      }
      const std::size_t stride = (n + kPairGroup - 1) / kPairGroup * kPairGroup;
      std::vector<std::int8_t> got(stride + 1, 99), want(stride + 1, 99);
      const int exponent = GetParam()->narrow_int8(x.data(), n, got.data());
      ASSERT_EQ(exponent, find("scalar")->narrow_int8(x.data(), n, want.data())) << n << ", " << scale;
      ASSERT_EQ(got, want) << n << ", " << scale;
      ASSERT_EQ(got.back(), 99) << n;
      float largest = 0.0f;
      for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, std::fabs(x[k]));
      for (std::size_t k = 0; k < n; ++k)
        ASSERT_LE(std::fabs(std::ldexp(double{got[k] * 1.0f}, exponent) - x[k]), std::ldexp(0.5, exponent))
            << n;
      const bool finest = exponent == -126 || largest > 127 * std::ldexp(1.0, exponent - 1);
      ASSERT_TRUE(finest || largest == 0.0f) << n << ", " << scale;
    }
  }
}

// uint8 samples from 0 to 255.
struct ByteColumns {
  ByteColumns(std::size_t column_count, std::size_t lane_count)
      : words(column_count / 4 * lane_count),
        steps(test::normal_floats(lane_count, 3)),
        columns(column_count),
        lanes(lane_count) {
    Rng rng(4, Purpose::kTest, column_count, lane_count);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(rng.next());
    if (!words.empty()) words[0] = 0xff00ff00u;
  }
  ByteSamples samples() const { return {words.data(), steps.data(), columns, lanes}; }
  int value(std::size_t k, std::size_t b) const {
    return static_cast<int>(words[k / 4 * lanes + b] >> (8 * (k % 4)) & 255u);
  }

  std::vector<std::uint32_t> words;
  test::Floats steps;
  std::size_t columns, lanes;
};

void expect_int8_forward(const KernelSet& set, std::size_t rows, std::size_t columns, std::size_t lanes,
                         bool started) {
  const ByteMatrix matrix(rows, columns);
  const ByteColumns x(columns, lanes);
  const test::Floats shift = test::normal_floats(rows, 5);
  std::vector<std::int32_t> starts(rows);
  for (std::size_t a = 0; a < rows; ++a) starts[a] = static_cast<std::int32_t>(a * 977) - 4000;
  const std::int32_t* start = started ? starts.data() : nullptr;
  test::Floats z(rows * lanes), scalar(rows * lanes);
  set.rows_forward_int8(matrix.rows(), rows, start, shift.data(), x.samples(), z.data());
  find("scalar")->rows_forward_int8(matrix.rows(), rows, start, shift.data(), x.samples(), scalar.data());
  ASSERT_TRUE(z.intact()) << rows << " x " << columns << " x " << lanes;
  for (std::size_t a = 0; a < rows; ++a) {
    for (std::size_t b = 0; b < lanes; ++b) {
      int sum = started ? starts[a] : 0;
      for (std::size_t k = 0; k < columns; ++k) sum += matrix.q[a * matrix.stride + k] * x.value(k, b);
      const double term = std::ldexp(double{x.steps[b]} * sum, matrix.exponents[a]);
      const double bound = test::rounding_bound(1, std::fabs(term) + std::fabs(shift[a]));
      ASSERT_NEAR(z[a * lanes + b], shift[a] + term, bound)
          << rows << " x " << columns << ", " << a << ", " << b;
      ASSERT_NEAR(scalar[a * lanes + b], shift[a] + term, bound) << rows << " x " << columns;
    }
  }
}

TEST_P(Int8, RowsForwardAtEveryLength) {
  for (const std::size_t lanes : {1, 16, 32, 48, 112}) {
    for (std::size_t columns = 0; columns < 200; columns += 4)
      expect_int8_forward(*GetParam(), columns / 4 % 21, columns, lanes, columns % 8 == 0);
    for (const std::size_t columns : {4, 32, 132}) {
      for (std::size_t rows = 0; rows < 40; ++rows)
        expect_int8_forward(*GetParam(), rows, columns, lanes, rows % 2 == 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Int8, testing::ValuesIn(available()), test::set_name);

}  // namespace
}  // namespace slide::kernels

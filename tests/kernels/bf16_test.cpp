// Tests of bfloat16 rows: every set against the scalar one at every length, and the guarantees of stochastic
// rounding.
#include "engine/kernels/bf16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/base/rng.h"
#include "engine/kernels/kernels.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/kernel_sets.h"

namespace slide::kernels {
namespace {

constexpr std::size_t kLengths = 200;

std::vector<float> normals(std::size_t n, std::uint64_t item) {
  Rng rng(1, Purpose::kTest, item);
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(rng.normal());
  return values;
}

std::size_t words(std::size_t n) {
  return (n + kPairGroup - 1) / kPairGroup * kPairGroup / 2;
}

class Bf16 : public testing::TestWithParam<const KernelSet*> {};

TEST_P(Bf16, NarrowAndWidenAgreeWithScalarToTheBit) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    const auto x = normals(n, n);
    std::vector<std::uint32_t> got(words(n) + 1, 0), want(words(n) + 1, 0);
    got.back() = want.back() = 0xdeadbeef;
    GetParam()->narrow(x.data(), n, 77u + static_cast<std::uint32_t>(n), got.data());
    find("scalar")->narrow(x.data(), n, 77u + static_cast<std::uint32_t>(n), want.data());
    ASSERT_EQ(got, want) << n;
    std::vector<float> back(n + 1, 5.0f);
    GetParam()->widen(got.data(), n, back.data());
    for (std::size_t k = 0; k < n; ++k) {
      ASSERT_EQ(back[k], pair_value(want.data(), k)) << n << ", " << k;
      ASSERT_LE(std::abs(back[k] - x[k]), std::abs(x[k]) / 128) << n << ", " << k;
    }
    ASSERT_EQ(back[n], 5.0f) << n;
  }
}

TEST_P(Bf16, NarrowNearestIsTheNearestBf16OfEveryColumn) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    auto x = normals(n, n);
    for (std::size_t k = 0; k < n; k += 3)
      x[k] = std::bit_cast<float>(0x3f808000u + 0x10000u * static_cast<std::uint32_t>(k % 2));  // ties
    std::vector<std::uint32_t> got(words(n) + 1, 0), want(words(n) + 1, 0);
    got.back() = want.back() = 0xdeadbeef;
    GetParam()->narrow_nearest(x.data(), n, got.data());
    find("scalar")->narrow_nearest(x.data(), n, want.data());
    ASSERT_EQ(got, want) << n;
    for (std::size_t k = 0; k < n; ++k)
      ASSERT_EQ(pair_value(got.data(), k), nearest_bf16(x[k])) << n << ", " << k;
  }
}

// Against a double sum over individually rounded samples, and against the scalar set.
void expect_forward(const KernelSet& set, const std::vector<std::uint32_t>& ids, std::size_t inner,
                    std::size_t lanes, bool shifted) {
  constexpr std::size_t kMatrixRows = 170, kMaxColumns = 600;
  static const std::vector<float> kMatrix = normals(kMatrixRows * kMaxColumns, 9);
  const std::size_t rows = ids.size(), ldw = words(inner) + 16 * (inner % 2);  // rows may have gaps
  test::Guarded<std::uint32_t> w(kMatrixRows * ldw, 0, 0x7fc07fc0u);           // NaN beside the rows
  for (const std::uint32_t r : ids) {
    std::fill_n(w.data() + r * ldw, words(inner), 0u);
    find("scalar")->narrow(kMatrix.data() + r * kMaxColumns, inner, 5, w.data() + r * ldw);
  }
  const test::Floats xt = test::normal_floats(inner * lanes, lanes);
  const test::Floats shift = test::normal_floats(rows, lanes + 1);
  const float* start = shifted ? shift.data() : nullptr;
  test::Floats z(rows * lanes), scalar(rows * lanes);
  set.rows_forward_bf16(w.data(), ldw, ids.data(), rows, start, xt.data(), inner, lanes, z.data());
  find("scalar")->rows_forward_bf16(w.data(), ldw, ids.data(), rows, start, xt.data(), inner, lanes,
                                    scalar.data());
  ASSERT_TRUE(z.intact()) << rows << " x " << inner << " x " << lanes;
  for (std::size_t a = 0; a < rows; ++a) {
    for (std::size_t b = 0; b < lanes; ++b) {
      double want = shifted ? shift[a] : 0.0, magnitude = std::fabs(want);
      for (std::size_t k = 0; k < inner; ++k) {
        const double term = double(pair_value(w.data() + ids[a] * ldw, k)) * nearest_bf16(xt[k * lanes + b]);
        want += term;
        magnitude += std::fabs(term);
      }
      const std::size_t at = a * lanes + b;
      const double bound = test::rounding_bound(inner, magnitude);
      ASSERT_NEAR(z[at], want, bound) << rows << " x " << inner << " x " << lanes << " at " << at;
      ASSERT_NEAR(z[at], scalar[at], 2 * bound) << rows << " x " << inner << " x " << lanes << " at " << at;
    }
  }
}

// Rows 7, 8, 9, ...
std::vector<std::uint32_t> neighbours(std::size_t count) {
  std::vector<std::uint32_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::uint32_t>(7 + i);
  return ids;
}

constexpr std::size_t kForwardLanes[] = {1, 16, 32, 48, 64, 112};

TEST_P(Bf16, RowsForwardAtEveryLength) {
  for (const std::size_t lanes : kForwardLanes) {
    for (std::size_t inner = 0; inner < 68; ++inner)
      expect_forward(*GetParam(), test::scattered_ids(inner % 21, 170), inner, lanes, inner % 2 == 0);
    for (const std::size_t inner : {0, 1, 31, 32, 33, 67}) {
      for (std::size_t rows = 0; rows < 36; ++rows)
        expect_forward(*GetParam(), test::scattered_ids(rows, 170), inner, lanes, rows % 2 == 0);
    }
  }
}

TEST_P(Bf16, RowsForwardOverSeveralPanelsOfColumns) {
  for (const std::size_t lanes : kForwardLanes) {
    for (const std::size_t inner : {127, 128, 129, 160, 255, 256, 257, 300, 545}) {
      expect_forward(*GetParam(), test::scattered_ids(37, 170), inner, lanes, true);
      expect_forward(*GetParam(), test::scattered_ids(20, 170), inner, lanes, false);
    }
  }
}

TEST_P(Bf16, RowsForwardWithManyRowsScatteredAndInARow) {
  for (const std::size_t lanes : kForwardLanes) {
    for (const std::size_t rows : {15, 16, 17, 31, 32, 33, 48, 64, 150}) {
      expect_forward(*GetParam(), test::scattered_ids(rows, 170), 37, lanes, true);
      std::vector<std::uint32_t> nearly = neighbours(rows);
      std::swap(nearly[rows / 2], nearly.back());
      for (const std::size_t inner : {63, 64, 300}) {
        expect_forward(*GetParam(), neighbours(rows), inner, lanes, true);
        expect_forward(*GetParam(), nearly, inner, lanes, false);
      }
    }
  }
}

TEST_P(Bf16, RowsForwardRoundsSamplesToTheNearestAndTiesToEven) {
  // 1 + 2^-8 and 1 + 3 * 2^-8 are midway between two bfloat16 values; the others are next to midpoints.
  const float values[] = {1.0f,           1.0f + 0x1p-8f, 1.0f + 3 * 0x1p-8f, -1.0f - 0x1p-8f, 0x1.010002p+0f,
                          0x1.00fffep+0f, 1e30f,          -3.14159274f,       0x1.fffffep+3f,  0.0f,
                          -0.0f,          1e-30f};
  const float rounded[] = {1.0f,
                           1.0f,
                           1.0f + 4 * 0x1p-8f,
                           -1.0f,
                           1.0f + 2 * 0x1p-8f,
                           1.0f,
                           nearest_bf16(1e30f),
                           -3.140625f,
                           16.0f,
                           0.0f,
                           0.0f,
                           nearest_bf16(1e-30f)};
  for (const std::size_t lanes : {1, 16, 64}) {
    for (std::size_t i = 0; i < std::size(values); ++i) {
      AlignedArray<float> x(lanes), z(lanes);
      std::fill(x.begin(), x.end(), values[i]);
      std::vector<std::uint32_t> w(16, 0);
      set_pair_value(w.data(), 0, 1.0f, 0);
      const std::uint32_t id = 0;
      GetParam()->rows_forward_bf16(w.data(), 16, &id, 1, nullptr, x.data(), 1, lanes, z.data());
      for (const float got : z) ASSERT_EQ(got, rounded[i]) << values[i];
    }
  }
}

TEST_P(Bf16, RoundingKeepsTheMean) {
  constexpr std::size_t n = 96, kTrials = 4000;
  const auto x = normals(n, 3);
  std::vector<double> sum(n, 0.0);
  std::vector<std::uint32_t> row(words(n));
  std::vector<float> back(n);
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    GetParam()->narrow(x.data(), n, static_cast<std::uint32_t>(mix64(trial)), row.data());
    GetParam()->widen(row.data(), n, back.data());
    for (std::size_t k = 0; k < n; ++k) sum[k] += back[k];
  }
  for (std::size_t k = 0; k < n; ++k) {  // one trial deviates by at most 2^-8 of the value: 5 standard errors
    EXPECT_NEAR(sum[k] / kTrials, x[k], 5 * std::abs(x[k]) / 256 / std::sqrt(double(kTrials))) << k;
  }
}

TEST_P(Bf16, ExactValuesStay) {
  std::vector<std::uint32_t> row(16);
  std::vector<float> x = {1.0f, -0.5f, 0.0f, 3.0f, -2.25f}, back(5);
  for (std::uint32_t noise = 0; noise < 100; ++noise) {
    GetParam()->narrow(x.data(), 5, noise, row.data());
    GetParam()->widen(row.data(), 5, back.data());
    ASSERT_EQ(back, x);
  }
}

TEST_P(Bf16, SgdRowIsTheRoundedUpdate) {
  const float rate = 0.3f, decay = 0.01f;
  for (std::size_t n = 0; n < kLengths; ++n) {
    const auto x = normals(n, n), g = normals(n, n + 1000);
    std::vector<std::uint32_t> got(words(n) + 1, 0);
    GetParam()->narrow(x.data(), n, 1, got.data());
    std::vector<float> before(n);
    GetParam()->widen(got.data(), n, before.data());
    GetParam()->sgd_row_bf16(got.data(), g.data(), n, rate, decay, 9);
    for (std::size_t k = 0; k < n; ++k) {
      const double want = (1.0 - double(rate) * decay) * before[k] - double(rate) * g[k];
      ASSERT_NEAR(pair_value(got.data(), k), want, std::abs(want) / 128 + 1e-6) << n << ", " << k;
    }
    ASSERT_EQ(got.back(), 0u) << n;
  }
}

TEST_P(Bf16, GatherRowsAtEveryLength) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    for (const std::size_t count : {0, 1, 3, 9}) {
      const std::size_t rows = 12;
      std::vector<std::uint32_t> w(rows * words(n) + 1), ids(count);
      for (std::size_t r = 0; r < rows; ++r) {
        const auto x = normals(n, r);
        find("scalar")->narrow(x.data(), n, 5, w.data() + r * words(n));
      }
      for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::uint32_t>(i * 7 % rows);
      const auto values = normals(count, 50);
      auto got = normals(n + 1, 60), want = got;
      GetParam()->gather_rows_bf16(w.data(), words(n), ids.data(), values.data(), count, n, got.data());
      find("scalar")->gather_rows_bf16(w.data(), words(n), ids.data(), values.data(), count, n, want.data());
      for (std::size_t k = 0; k <= n; ++k)
        ASSERT_NEAR(got[k], want[k], 1e-5) << n << ", " << count << ", " << k;
    }
  }
}

TEST(Bf16Layout, SetPairValueLeavesTheNeighbourAlone) {
  std::vector<std::uint32_t> row(32, 0);
  for (std::size_t k = 0; k < 64; ++k) set_pair_value(row.data(), k, static_cast<float>(k), 3);
  for (std::size_t k = 0; k < 64; ++k) EXPECT_EQ(pair_value(row.data(), k), static_cast<float>(k));
}

INSTANTIATE_TEST_SUITE_P(Sets, Bf16, testing::ValuesIn(available()), test::set_name);

}  // namespace
}  // namespace slide::kernels

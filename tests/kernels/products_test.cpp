// Tests of products of rows and blocks: every instruction set against double arithmetic and against the
// scalar set, at every length 0..67 and at lengths that reach the widest tiles, between canaries.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/kernels/kernels.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/kernel_sets.h"

namespace slide::kernels {
namespace {

using test::agrees;
using test::Floats;
using test::kLanes;
using test::kLengths;
using test::kMatrixRows;
using test::kRows;
using test::normal_floats;
using test::normal_rows;
using test::rounding_bound;
using test::scattered_ids;
using test::Sum;

class Products : public test::OfEverySet {};
INSTANTIATE_TEST_SUITE_P(Sets, Products, testing::ValuesIn(available()), test::set_name);

void expect_forward(const KernelSet& set, std::size_t rows, std::size_t inner, std::size_t lanes,
                    bool shifted) {
  const std::size_t ldw = round_up(inner, kLaneMultiple) + kLaneMultiple;
  const Floats w = normal_rows(kMatrixRows, inner, ldw, lanes);
  const Floats xt = normal_floats(inner * lanes, lanes), shift = normal_floats(rows, lanes + 1);
  const auto ids = scattered_ids(rows, kMatrixRows);
  const float* start = shifted ? shift.data() : nullptr;
  Floats z(rows * lanes), scalar(rows * lanes);
  set.rows_forward(w.data(), ldw, ids.data(), rows, start, xt.data(), inner, lanes, z.data());
  find("scalar")->rows_forward(w.data(), ldw, ids.data(), rows, start, xt.data(), inner, lanes,
                               scalar.data());
  ASSERT_TRUE(z.intact()) << rows << " x " << inner << " x " << lanes;
  for (std::size_t a = 0; a < rows; ++a) {
    for (std::size_t b = 0; b < lanes; ++b) {
      Sum want;
      want.add(shifted ? shift[a] : 0.0);
      for (std::size_t k = 0; k < inner; ++k) want.add(double(w[ids[a] * ldw + k]) * xt[k * lanes + b]);
      const std::size_t at = a * lanes + b;
      ASSERT_TRUE(agrees(z[at], want, inner)) << rows << " x " << inner << " x " << lanes << " at " << at;
      ASSERT_NEAR(z[at], scalar[at], 2 * rounding_bound(inner, want.magnitude));
    }
  }
}

TEST_P(Products, RowsForwardAtEveryLength) {
  for (const std::size_t lanes : kLanes) {
    for (std::size_t inner = 0; inner < kLengths; ++inner) {
      // Every number of rows at some lengths, one number of rows at every length.
      expect_forward(set(), inner % kRows, inner, lanes, inner % 2 == 0);
    }
    for (const std::size_t inner : {0, 1, 15, 16, 17, 33, 67}) {
      for (std::size_t rows = 0; rows < kRows; ++rows)
        expect_forward(set(), rows, inner, lanes, rows % 2 == 0);
    }
  }
}

TEST(SpreadStride, HoldsTheColumnsAndIsNoMultipleOfAKilobyte) {
  const std::pair<std::size_t, std::size_t> cases[] = {{0, 16},    {1, 16},    {16, 16},   {17, 32},
                                                       {240, 240}, {241, 272}, {256, 272}, {257, 272},
                                                       {511, 528}, {512, 528}, {640, 640}};
  for (const auto& [columns, stride] : cases) EXPECT_EQ(spread_stride(columns), stride) << columns;
}

TEST_P(Products, RowsForwardWithManyRows) {
  for (const std::size_t lanes : kLanes) {
    for (const std::size_t rows : {31, 48, 63, 150}) expect_forward(set(), rows, 37, lanes, true);
  }
}

void expect_backward(const KernelSet& set, std::size_t rows, std::size_t inner, std::size_t lanes) {
  const std::size_t ldx = round_up(inner, kLaneMultiple) + kLaneMultiple;
  const Floats w = normal_rows(kMatrixRows, inner, ldx, lanes),
               before = normal_rows(lanes, inner, ldx, lanes + 1);
  const Floats d = normal_floats(rows * lanes, lanes);
  const auto ids = scattered_ids(rows, kMatrixRows);
  Floats dx(lanes * ldx), scalar(lanes * ldx);
  for (std::size_t b = 0; b < lanes; ++b) {
    std::copy_n(before.data() + b * ldx, inner, dx.data() + b * ldx);
    std::copy_n(before.data() + b * ldx, inner, scalar.data() + b * ldx);
  }
  set.rows_backward_input(w.data(), ldx, ids.data(), rows, d.data(), inner, lanes, dx.data(), ldx);
  find("scalar")->rows_backward_input(w.data(), ldx, ids.data(), rows, d.data(), inner, lanes, scalar.data(),
                                      ldx);
  ASSERT_TRUE(dx.intact()) << rows << " x " << inner << " x " << lanes;
  for (std::size_t b = 0; b < lanes; ++b) {
    for (std::size_t k = 0; k < inner; ++k) {
      const std::size_t at = b * ldx + k;
      Sum want;
      want.add(before[at]);
      for (std::size_t a = 0; a < rows; ++a) want.add(double(w[ids[a] * ldx + k]) * d[a * lanes + b]);
      ASSERT_TRUE(agrees(dx[at], want, rows)) << rows << " x " << inner << " x " << lanes << " at " << at;
      ASSERT_NEAR(dx[at], scalar[at], 2 * rounding_bound(rows, want.magnitude));
    }
    for (std::size_t k = inner; k < ldx; ++k)
      ASSERT_TRUE(dx.untouched(b * ldx + k)) << "padding of sample " << b;
  }
}

TEST_P(Products, RowsBackwardInputAtEveryLength) {
  for (const std::size_t lanes : kLanes) {
    for (std::size_t inner = 0; inner < kLengths; ++inner)
      expect_backward(set(), inner % kRows, inner, lanes);
    for (const std::size_t inner : {0, 1, 15, 16, 17, 33, 67}) {
      for (std::size_t rows = 0; rows < kRows; ++rows) expect_backward(set(), rows, inner, lanes);
    }
  }
}

TEST_P(Products, RowsBackwardInputWithManyRows) {
  for (const std::size_t lanes : kLanes) {
    for (const std::size_t rows : {63, 64, 65, 150}) {
      for (const std::size_t inner : {37, 80, 95, 96, 128, 129, 300})
        expect_backward(set(), rows, inner, lanes);
    }
  }
}

// Rows of `d`, permuted.
std::vector<const float*> row_pointers(const Floats& d, std::size_t rows, std::size_t ldd) {
  std::vector<const float*> pointers(rows);
  for (std::size_t r = 0; r < rows; ++r) pointers[r] = d.data() + (rows - 1 - r) * ldd;
  return pointers;
}

// Row r of `g`, for each r.
std::vector<float*> gradient_rows(Floats& g, std::size_t rows, std::size_t ldg) {
  std::vector<float*> pointers(rows);
  for (std::size_t r = 0; r < rows; ++r) pointers[r] = g.data() + r * ldg;
  return pointers;
}

void expect_gradient(const KernelSet& set, std::size_t rows, std::size_t samples, std::size_t inner,
                     std::size_t ldd) {
  const std::size_t ldx = round_up(inner, kLaneMultiple), ldg = ldx + kLaneMultiple;
  const Floats d = normal_rows(rows, samples, ldd, inner), x = normal_rows(samples, inner, ldx, inner + 1);
  const Floats before = normal_rows(rows, inner, ldg, inner + 2);
  Floats g(rows * ldg), scalar(rows * ldg);
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(before.data() + r * ldg, inner, g.data() + r * ldg);
    std::copy_n(before.data() + r * ldg, inner, scalar.data() + r * ldg);
  }
  const auto deltas = row_pointers(d, rows, ldd);
  set.rows_gradient(deltas.data(), rows, samples, x.data(), ldx, inner, gradient_rows(g, rows, ldg).data());
  find("scalar")->rows_gradient(deltas.data(), rows, samples, x.data(), ldx, inner,
                                gradient_rows(scalar, rows, ldg).data());
  ASSERT_TRUE(g.intact()) << rows << " x " << samples << " x " << inner;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < inner; ++k) {
      Sum want;
      want.add(before[r * ldg + k]);
      for (std::size_t b = 0; b < samples; ++b) want.add(double(deltas[r][b]) * x[b * ldx + k]);
      ASSERT_TRUE(agrees(g[r * ldg + k], want, samples)) << rows << " x " << samples << " x " << inner;
      ASSERT_NEAR(g[r * ldg + k], scalar[r * ldg + k], 2 * rounding_bound(samples, want.magnitude));
    }
    for (std::size_t k = inner; k < ldg; ++k) ASSERT_TRUE(g.untouched(r * ldg + k)) << "padding of row " << r;
  }
}

TEST_P(Products, RowsGradientAtEveryLengthLeavesPaddingAlone) {
  for (const std::size_t samples : {0, 1, 2, 3, 15, 16, 17, 31, 32}) {
    const std::size_t ldd = samples <= 1 ? 1 : 32;
    for (std::size_t inner = 0; inner < kLengths; ++inner) {
      for (const std::size_t rows : {1, 2, 3}) expect_gradient(set(), rows, samples, inner, ldd);
    }
    for (std::size_t rows = 0; rows < kRows; ++rows) expect_gradient(set(), rows, samples, 37, ldd);
    for (const std::size_t inner : {100, 128, 129, 300}) expect_gradient(set(), 2, samples, inner, ldd);
  }
}

// The rows computed together depend on the number of threads: a row's result must not.
TEST_P(Products, RowsGradientOfARowDoesNotDependOnItsCompany) {
  for (const std::size_t samples : {1, 7, 16, 32}) {
    for (std::size_t inner = 1; inner < kLengths; ++inner) {
      const std::size_t ldx = round_up(inner, kLaneMultiple), rows = 20;
      const Floats d = normal_rows(rows, samples, 32, inner), x = normal_rows(samples, inner, ldx, inner + 1);
      Floats together(rows * ldx, 0, 0.0f);
      const auto deltas = row_pointers(d, rows, 32);
      set().rows_gradient(deltas.data(), rows, samples, x.data(), ldx, inner,
                          gradient_rows(together, rows, ldx).data());
      for (std::size_t r = 0; r < rows; ++r) {
        Floats alone(ldx, 0, 0.0f);
        set().rows_gradient(&deltas[r], 1, samples, x.data(), ldx, inner,
                            gradient_rows(alone, 1, ldx).data());
        for (std::size_t k = 0; k < inner; ++k)
          ASSERT_EQ(alone[k], together[r * ldx + k]) << inner << ", " << k;
      }
    }
  }
}

TEST_P(Products, OneSampleAgainstManyRows) {
  for (std::size_t inner = 0; inner < kLengths; ++inner) {
    const std::size_t ldw = round_up(std::max<std::size_t>(inner, 1), kLaneMultiple);
    for (const std::size_t rows : {1, 15, 16, 17, 33}) {
      const Floats w = normal_rows(40, inner, ldw, 1), x = normal_floats(inner, 2, 0),
                   shift = normal_floats(rows, 3, 0);
      std::vector<std::uint32_t> ids(rows);
      for (std::size_t r = 0; r < rows; ++r) ids[r] = static_cast<std::uint32_t>(r * 7 % 40);
      for (const bool shifted : {false, true}) {
        std::vector<float> z(rows);
        set().rows_forward(w.data(), ldw, ids.data(), rows, shifted ? shift.data() : nullptr, x.data(), inner,
                           1, z.data());
        for (std::size_t r = 0; r < rows; ++r) {
          Sum want;
          if (shifted) want.add(shift[r]);
          for (std::size_t k = 0; k < inner; ++k) want.add(double(w[ids[r] * ldw + k]) * x[k]);
          ASSERT_TRUE(agrees(z[r], want, inner + 1)) << inner << ", " << rows << ", " << r;
        }
      }
    }
  }
}

TEST_P(Products, DotAtEveryLengthAndAlignment) {
  for (std::size_t n = 0; n < kLengths + 140; ++n) {
    for (const std::size_t offset : {0, 1, 3}) {
      const Floats x = normal_floats(n, 1, offset), y = normal_floats(n, 2, 2 * offset);
      Sum want;
      for (std::size_t k = 0; k < n; ++k) want.add(double(x[k]) * y[k]);
      const float got = set().dot(x.data(), y.data(), n);
      ASSERT_TRUE(agrees(got, want, n)) << n;
      ASSERT_NEAR(got, find("scalar")->dot(x.data(), y.data(), n), 2 * rounding_bound(n, want.magnitude));
      Sum total;
      for (std::size_t k = 0; k < n; ++k) total.add(x[k]);
      ASSERT_TRUE(agrees(set().sum(x.data(), n), total, n)) << n;
    }
  }
}

TEST_P(Products, AxpyAtEveryLengthAndAlignment) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    for (const std::size_t offset : {0, 1, 3}) {
      const Floats x = normal_floats(n, 1, 2 * offset), before = normal_floats(n, 2);
      Floats y(n, offset);
      std::copy_n(before.data(), n, y.data());
      set().axpy(-1.7f, x.data(), n, y.data());
      ASSERT_TRUE(y.intact()) << n;
      for (std::size_t k = 0; k < n; ++k) {
        Sum want;
        want.add(before[k]);
        want.add(double(-1.7f) * x[k]);
        ASSERT_TRUE(agrees(y[k], want, 1)) << n << " at " << k;
      }
    }
  }
}

TEST_P(Products, TransposeMovesEveryElementAndNoOther) {
  for (std::size_t rows = 0; rows < 70; rows += rows < kRows ? 1 : 7) {
    for (std::size_t columns = 0; columns < kLengths; ++columns) {
      const std::size_t ldi = columns + 3, ldo = rows + 5;
      const Floats in = normal_rows(rows, columns, ldi, rows);
      Floats out(columns * ldo, 1);
      set().transpose(in.data(), ldi, rows, columns, ldo, out.data());
      ASSERT_TRUE(out.intact()) << rows << " x " << columns;
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t r = 0; r < rows; ++r)
          ASSERT_EQ(out[c * ldo + r], in[r * ldi + c]) << rows << " x " << columns;
        for (std::size_t r = rows; r < ldo; ++r)
          ASSERT_TRUE(out.untouched(c * ldo + r)) << rows << " x " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace slide::kernels

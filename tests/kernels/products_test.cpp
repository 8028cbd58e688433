// Products of rows and blocks: every instruction set against arithmetic in double and against the scalar set,
// at every length 0..67 and at lengths that reach the widest tiles, between canaries.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "engine/kernels/kernels.h"
#include "tests/kernels/guarded.h"

namespace slide::kernels {
namespace {

using test::Floats;
using test::normal_floats;
using test::normal_rows;
using test::rounding_bound;
using test::scattered_ids;

constexpr std::size_t kLengths = 68;  // 0..67
constexpr std::size_t kRows = 21;     // 0..20
constexpr std::size_t kMatrixRows = 160;
const std::size_t kLanes[] = {1, 16, 32, 48, 64};

std::string set_name(const testing::TestParamInfo<const KernelSet*>& set) {
  return set.param->name;
}

class Products : public testing::TestWithParam<const KernelSet*> {
 protected:
  const KernelSet& set() const { return *GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Sets, Products, testing::ValuesIn(available()), set_name);

// A sum and the sum of its terms' magnitudes, in double.
struct Sum {
  double value = 0.0, magnitude = 0.0;
  void add(double term) { value += term, magnitude += std::fabs(term); }
};

// True when `got` is `want` up to the rounding of `terms` additions in float.
bool agrees(float got, const Sum& want, std::size_t terms) {
  return std::fabs(got - want.value) <= rounding_bound(terms, want.magnitude);
}

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

// Rows of `d` in an order that is not theirs.
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

// Which rows are computed together depends on the number of threads: no row may notice.
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

void expect_gather(const KernelSet& set, std::size_t count, std::size_t n) {
  const std::size_t ldw = round_up(n, kLaneMultiple) + kLaneMultiple;
  const Floats w = normal_rows(kMatrixRows, n, ldw, count), values = normal_floats(count, n);
  const Floats before = normal_floats(n, count + 1);
  const auto ids = scattered_ids(count, kMatrixRows);
  Floats h(n), scalar(n);
  std::copy_n(before.data(), n, h.data());
  std::copy_n(before.data(), n, scalar.data());
  set.gather_rows(w.data(), ldw, ids.data(), values.data(), count, n, h.data());
  find("scalar")->gather_rows(w.data(), ldw, ids.data(), values.data(), count, n, scalar.data());
  ASSERT_TRUE(h.intact()) << count << " x " << n;
  for (std::size_t k = 0; k < n; ++k) {
    Sum want;
    want.add(before[k]);
    for (std::size_t i = 0; i < count; ++i) want.add(double(values[i]) * w[ids[i] * ldw + k]);
    ASSERT_TRUE(agrees(h[k], want, count)) << count << " x " << n << " at " << k;
    ASSERT_NEAR(h[k], scalar[k], 2 * rounding_bound(count, want.magnitude));
  }
}

TEST_P(Products, GatherRowsAtEveryLength) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    for (const std::size_t count : {0, 1, 2, 5, 20}) expect_gather(set(), count, n);
  }
  for (std::size_t count = 0; count < kRows; ++count) expect_gather(set(), count, 37);
  for (const std::size_t n : {100, 127, 128, 129, 144, 256, 300}) {
    for (const std::size_t count : {1, 4, 5, 100}) expect_gather(set(), count, n);
  }
}

void expect_scatter(const KernelSet& set, std::size_t count, std::size_t n) {
  const Floats x = normal_floats(n, 1, 0), values = normal_floats(count, 2, 0);
  const std::size_t ldh = n + 3;
  std::vector<std::uint32_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::uint32_t>(i * 7 % 12);  // some twice
  const std::uint32_t bound = n % 3 == 0 ? 12 : 9;
  std::vector<float> h(12 * ldh, 0.25f);
  std::vector<double> want(h.begin(), h.end());
  std::size_t before = 0;
  for (; before < count && ids[before] < bound; ++before) {
    for (std::size_t k = 0; k < n; ++k) want[ids[before] * ldh + k] += double(values[before]) * x[k];
  }
  EXPECT_EQ(set.scatter_rows(ids.data(), values.data(), count, bound, x.data(), n, h.data(), ldh), before);
  for (std::size_t i = 0; i < h.size(); ++i)
    ASSERT_NEAR(h[i], want[i], 1e-5) << n << ", " << count << ", " << i;
}

TEST_P(Products, ScatterRowsAtEveryLength) {
  for (std::size_t n = 0; n < kLengths + 40; ++n) {
    for (const std::size_t count : {0, 1, 3, 20}) expect_scatter(set(), count, n);
  }
  for (const std::size_t n : {127, 128, 129, 135, 144, 192, 255, 256, 300}) {
    for (const std::size_t count : {0, 1, 3, 20}) expect_scatter(set(), count, n);
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

TEST_P(Products, MeetAtEveryLength) {
  Rng rng(1, Purpose::kTest);
  std::vector<std::uint32_t> bits(40), first(40);
  for (auto& word : bits) word = static_cast<std::uint32_t>(rng.next());
  for (auto& column : first) column = rng.below(1000);
  for (std::size_t count = 0; count < 100; ++count) {
    const Floats w = normal_floats(count, 1, 0);
    std::vector<std::uint32_t> ids(count), want_columns;
    std::vector<float> want_values;
    std::vector<std::uint16_t> want_masks((count + 15) / 16, 0);
    for (std::size_t i = 0; i < count; ++i) {
      ids[i] = rng.below(40 * 32);
      if ((bits[ids[i] / 32] >> (ids[i] % 32) & 1u) == 0) continue;
      want_masks[i / 16] = static_cast<std::uint16_t>(want_masks[i / 16] | 1u << (i % 16));
      std::uint32_t column = first[ids[i] / 32];
      for (std::uint32_t bit = 0; bit < ids[i] % 32; ++bit) column += bits[ids[i] / 32] >> bit & 1u;
      want_columns.push_back(column);
      want_values.push_back(w[i]);
    }
    std::vector<std::uint16_t> masks(want_masks.size() + 1, 77);
    std::vector<std::uint32_t> columns(count + kLaneMultiple + 1, 9999);
    std::vector<float> values(count + kLaneMultiple + 1, 9999.0f);
    const std::size_t found = set().meet(ids.data(), w.data(), count, bits.data(), first.data(), masks.data(),
                                         columns.data(), values.data());
    EXPECT_EQ(masks.back(), 77u) << count;
    EXPECT_EQ(columns.back(), 9999u) << count;
    EXPECT_EQ(values.back(), 9999.0f) << count;
    masks.pop_back();
    columns.resize(found);
    values.resize(found);
    ASSERT_EQ(masks, want_masks) << count;
    ASSERT_EQ(columns, want_columns) << count;
    ASSERT_EQ(values, want_values) << count;
  }
}

TEST_P(Products, PartAndJoinKindsAtEveryLength) {
  Rng rng(1, Purpose::kTest);
  std::vector<std::uint32_t> kind_and_place(500);
  for (auto& place : kind_and_place) place = rng.below(1u << 31);
  for (std::size_t count = 0; count < 100; ++count) {
    const Floats w = normal_floats(count, 1, 0);
    std::vector<std::uint32_t> columns(count), want_places[kKinds];
    std::vector<float> want_weights[kKinds];
    std::vector<std::uint16_t> want_masks((count + 15) / 16 * kKinds, 0);
    for (std::size_t i = 0; i < count; ++i) {
      columns[i] = rng.below(500);
      const std::uint32_t at = kind_and_place[columns[i]], kind = at % kKinds;
      want_places[kind].push_back(at / kKinds);
      want_weights[kind].push_back(w[i]);
      std::uint16_t& mask = want_masks[i / 16 * kKinds + kind];
      mask = static_cast<std::uint16_t>(mask | 1u << (i % 16));
    }
    std::vector<std::uint16_t> masks(want_masks.size() + 1, 77);
    std::vector<std::uint32_t> places[kKinds];
    std::vector<float> weights[kKinds];
    Parts parts{};
    for (std::size_t k = 0; k < kKinds; ++k) {
      places[k].assign(count + kLaneMultiple + 1, 9999);
      weights[k].assign(count + kLaneMultiple + 1, 9999.0f);
      parts.places[k] = places[k].data();
      parts.weights[k] = weights[k].data();
    }
    set().part_kinds(columns.data(), w.data(), count, kind_and_place.data(), masks.data(), parts);
    EXPECT_EQ(masks.back(), 77u) << count;
    masks.pop_back();
    ASSERT_EQ(masks, want_masks) << count;
    for (std::size_t k = 0; k < kKinds; ++k) {
      EXPECT_EQ(places[k].back(), 9999u) << count;
      EXPECT_EQ(weights[k].back(), 9999.0f) << count;
      places[k].resize(parts.count[k]);
      weights[k].resize(parts.count[k]);
      ASSERT_EQ(places[k], want_places[k]) << count << ", kind " << k;
      ASSERT_EQ(weights[k], want_weights[k]) << count << ", kind " << k;
    }
    std::vector<float> joined(count + 1, 9999.0f);
    set().join_kinds(masks.data(), count, parts.weights, joined.data());
    EXPECT_EQ(joined.back(), 9999.0f) << count;
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(joined[i], w[i]) << count << ", " << i;
  }
}

TEST_P(Products, AdagradOnMaskedWeightsAgreesWithScalar) {
  for (std::size_t count = 0; count < 70; ++count) {
    const Floats before = normal_floats(count + 1, 1, 0), g = normal_floats(count, 2, 0);
    std::vector<float> w(before.data(), before.data() + count + 1), sums(count + 1, 0.5f);
    std::vector<float> want_w = w, want_sums = sums;
    std::vector<std::uint16_t> masks(count / 16 + 1, 0);
    std::size_t named = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i * 7 % 5 > 2 || i / 16 == 2) continue;  // none of the third mask
      masks[i / 16] = static_cast<std::uint16_t>(masks[i / 16] | 1u << (i % 16));
      ++named;
    }
    set().adagrad_masked(w.data(), sums.data(), masks.data(), count, g.data(), 2.0f, 0.3f);
    find("scalar")->adagrad_masked(want_w.data(), want_sums.data(), masks.data(), count, g.data(), 2.0f,
                                   0.3f);
    std::size_t changed = 0;
    for (std::size_t i = 0; i <= count; ++i) {
      ASSERT_NEAR(w[i], want_w[i], 1e-6) << count << ", " << i;
      ASSERT_NEAR(sums[i], want_sums[i], 1e-6 * (1 + want_sums[i])) << count << ", " << i;
      changed += sums[i] != 0.5f ? 1 : 0;
    }
    EXPECT_EQ(changed, named);
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

TEST_P(Products, SelectAboveListsExactlyWhatIsAboveInOrder) {
  for (const std::size_t lanes : kLanes) {
    for (std::size_t rows = 0; rows < kRows; ++rows) {
      for (const double share : {0.0, 0.1, 1.0}) {
        Floats z = normal_floats(rows * lanes, rows);
        Floats threshold(lanes, 0, 0.0f);
        for (std::size_t b = 0; b < lanes; ++b)
          threshold[b] = share == 0.0 ? 3e38f : share == 1.0 ? -3e38f : 1.3f;
        if (rows > 2) z[lanes] = threshold[0], z[2 * lanes - 1] = test::kNaN;  // neither is above
        test::Guarded<std::uint32_t> hits(rows * lanes + 1);
        const std::size_t count = set().select_above(z.data(), rows, lanes, threshold.data(), hits.data());
        std::vector<std::uint32_t> want;
        for (std::size_t at = 0; at < rows * lanes; ++at) {
          if (z[at] > threshold[at % lanes]) want.push_back(static_cast<std::uint32_t>(at));
        }
        ASSERT_TRUE(hits.intact()) << rows << " x " << lanes;
        ASSERT_EQ(std::vector<std::uint32_t>(hits.data(), hits.data() + count), want)
            << rows << " x " << lanes;
      }
    }
  }
}

TEST_P(Products, PackSignsIsTheScalarOneForEveryNumberOfBits) {
  for (const std::size_t lanes : kLanes) {
    for (std::size_t k = 0; k <= 32; ++k) {
      for (const bool more : {false, true}) {
        Floats z = normal_floats(k * lanes, k + 1);
        for (std::size_t i = 0; i < z.size(); ++i) {  // what has no sign of its own, and equal sizes
          if (i % 7 == 3) z[i] = i % 2 == 0 ? 0.0f : -0.0f;
          if (i % 11 == 5) z[i] = test::kNaN;
          if (i % 5 == 4) z[i] = std::copysign(0.125f, z[i]);
        }
        const Floats scale = normal_floats(k, 2), extra = normal_floats(lanes, 3);
        const float *s = more ? scale.data() : nullptr, *e = more ? extra.data() : nullptr;
        test::Guarded<std::uint32_t> prints(lanes), nearest(lanes), alone(lanes);
        std::vector<std::uint32_t> want(lanes), want_nearest(lanes);
        set().pack_signs(z.data(), s, e, k, lanes, prints.data(), nearest.data());
        set().pack_signs(z.data(), s, e, k, lanes, alone.data(), nullptr);
        find("scalar")->pack_signs(z.data(), s, e, k, lanes, want.data(), want_nearest.data());
        ASSERT_TRUE(prints.intact() && nearest.intact() && alone.intact()) << k << " x " << lanes;
        ASSERT_EQ(std::vector<std::uint32_t>(prints.data(), prints.data() + lanes), want)
            << k << " x " << lanes;
        ASSERT_EQ(std::vector<std::uint32_t>(alone.data(), alone.data() + lanes), want)
            << k << " x " << lanes;
        ASSERT_EQ(std::vector<std::uint32_t>(nearest.data(), nearest.data() + lanes), want_nearest)
            << k << " x " << lanes;
      }
    }
  }
}

// By hand: bits from the first row on, zeros are not below zero, ties go to the first.
TEST_P(Products, PackSignsOfAFewValues) {
  const std::vector<float> z = {1.0f, -2.0f, -0.0f, 3.0f, -0.5f, 0.25f};
  std::uint32_t print = 0, nearest = 0;
  set().pack_signs(z.data(), nullptr, nullptr, 6, 1, &print, &nearest);
  EXPECT_EQ(print, 0b101101u);
  EXPECT_EQ(nearest, 0b000100u);
  const std::vector<float> scale = {-2.0f, 0.0f, 1.0f, 0.0f, 1.0f, 0.5f};
  const float extra = 0.5f;  // 0, -2, 0.5, 3, 0, 0.5
  set().pack_signs(z.data(), scale.data(), &extra, 6, 1, &print, &nearest);
  EXPECT_EQ(print, 0b111101u);
  EXPECT_EQ(nearest, 0b000001u);
}

// Sizes from far below the floor to above it, zeros and both signs among them.
Floats small_and_large(std::size_t n, std::uint64_t seed) {
  Floats d = normal_floats(n, seed);
  for (std::size_t i = 0; i < n; ++i)
    d[i] = i % 5 == 4 ? 0.0f : d[i] * std::pow(10.0f, -static_cast<float>(i % 4));
  return d;
}

TEST_P(Products, RoundSmallIsTheScalarOneAtEveryLength) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    for (const float floor : {0.0f, 0.3f, 10.0f}) {
      const std::uint32_t noise = static_cast<std::uint32_t>(n) * 77777u + 5u;
      const Floats before = small_and_large(n, n);
      Floats d = small_and_large(n, n), want = small_and_large(n, n), values(n + 1), want_values(n + 1);
      test::Guarded<std::uint32_t> places(n + 1), want_places(n + 1);
      const std::size_t count = set().round_small(d.data(), n, floor, noise, places.data(), values.data());
      const std::size_t wanted =
          find("scalar")->round_small(want.data(), n, floor, noise, want_places.data(), want_values.data());
      ASSERT_TRUE(d.intact() && places.intact() && values.intact()) << n;
      ASSERT_EQ(count, wanted) << n;
      for (std::size_t i = 0, j = 0; i < n; ++i) {
        ASSERT_EQ(d[i], want[i]) << i << " of " << n;
        if (d[i] == 0.0f) continue;
        ASSERT_EQ(d[i], std::fabs(before[i]) >= floor ? before[i] : std::copysign(floor, before[i]));
        ASSERT_EQ(places[j], i);
        ASSERT_EQ(values[j++], d[i]);
      }
    }
  }
}

// The mean over 40,000 rounds of a delta of `size` times the floor has a standard deviation of at most floor
// / 400.
TEST_P(Products, RoundSmallKeepsTheMean) {
  constexpr std::size_t kValues = 37, kRounds = 40000;
  const float floor = 0.25f;
  std::vector<double> sums(kValues);
  const auto value = [&](std::size_t i) {
    return (i % 2 == 0 ? 1.0f : -1.0f) * floor * static_cast<float>(i) / static_cast<float>(kValues);
  };
  std::vector<float> d(kValues), values(kValues + 1);
  std::vector<std::uint32_t> places(kValues + 1);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kValues; ++i) d[i] = value(i);
    set().round_small(d.data(), kValues, floor, round * 2654435761u, places.data(), values.data());
    for (std::size_t i = 0; i < kValues; ++i) sums[i] += double(d[i]);
  }
  for (std::size_t i = 0; i < kValues; ++i)
    EXPECT_NEAR(sums[i] / kRounds, double(value(i)), 5 * floor / 400) << i;
}

}  // namespace
}  // namespace slide::kernels

// Tests of kernels over rows and features selected by ids: every instruction set against double arithmetic
// and against the scalar set, at every length.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/kernels/kernels.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/kernel_sets.h"

namespace slide::kernels {
namespace {

using test::agrees;
using test::Floats;
using test::kLengths;
using test::kMatrixRows;
using test::kRows;
using test::normal_floats;
using test::normal_rows;
using test::rounding_bound;
using test::scattered_ids;
using test::Sum;

class Sparse : public test::OfEverySet {};
INSTANTIATE_TEST_SUITE_P(Sets, Sparse, testing::ValuesIn(available()), test::set_name);

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

TEST_P(Sparse, GatherRowsAtEveryLength) {
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

TEST_P(Sparse, ScatterRowsAtEveryLength) {
  for (std::size_t n = 0; n < kLengths + 40; ++n) {
    for (const std::size_t count : {0, 1, 3, 20}) expect_scatter(set(), count, n);
  }
  for (const std::size_t n : {127, 128, 129, 135, 144, 192, 255, 256, 300}) {
    for (const std::size_t count : {0, 1, 3, 20}) expect_scatter(set(), count, n);
  }
}

TEST_P(Sparse, GatherDotAtEveryLength) {
  constexpr std::size_t kNumbers = 90;
  const Floats x = normal_floats(kNumbers, 1);
  for (std::size_t count = 0; count < kNumbers; ++count) {
    std::vector<uint32_t> ids = scattered_ids(count, kNumbers);
    const Floats values = normal_floats(count, 2);
    Sum want;
    for (std::size_t i = 0; i < count; ++i) want.add(double{values[i]} * x[ids[i]]);
    ASSERT_TRUE(agrees(set().gather_dot(x.data(), ids.data(), values.data(), count), want, count)) << count;
  }
}

TEST_P(Sparse, FindPresentAtEveryLength) {
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
    const std::size_t found = set().find_present(ids.data(), w.data(), count, bits.data(), first.data(),
                                                 masks.data(), columns.data(), values.data());
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

// Expected result of part_kinds for weights w in columns whose positions come from kind_and_place.
struct WantedKinds {
  std::vector<std::uint32_t> places[kKinds];
  std::vector<float> weights[kKinds];
  std::vector<std::uint16_t> masks;

  WantedKinds(const std::vector<std::uint32_t>& columns, const Floats& w,
              const std::vector<std::uint32_t>& kind_and_place)
      : masks((columns.size() + 15) / 16 * kKinds, 0) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::uint32_t at = kind_and_place[columns[i]], kind = at % kKinds;
      places[kind].push_back(at / kKinds);
      weights[kind].push_back(w[i]);
      std::uint16_t& mask = masks[i / 16 * kKinds + kind];
      mask = static_cast<std::uint16_t>(mask | 1u << (i % 16));
    }
  }
};

TEST_P(Sparse, PartAndJoinKindsAtEveryLength) {
  Rng rng(1, Purpose::kTest);
  std::vector<std::uint32_t> kind_and_place(500);
  for (auto& place : kind_and_place) place = rng.below(1u << 31);
  for (std::size_t count = 0; count < 100; ++count) {
    const Floats w = normal_floats(count, 1, 0);
    std::vector<std::uint32_t> columns(count);
    for (auto& column : columns) column = rng.below(500);
    const WantedKinds want(columns, w, kind_and_place);
    std::vector<std::uint16_t> masks(want.masks.size() + 1, 77);
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
    ASSERT_EQ(masks, want.masks) << count;
    for (std::size_t k = 0; k < kKinds; ++k) {
      EXPECT_EQ(places[k].back(), 9999u) << count;
      EXPECT_EQ(weights[k].back(), 9999.0f) << count;
      places[k].resize(parts.count[k]);
      weights[k].resize(parts.count[k]);
      ASSERT_EQ(places[k], want.places[k]) << count << ", kind " << k;
      ASSERT_EQ(weights[k], want.weights[k]) << count << ", kind " << k;
    }
    std::vector<float> joined(count + 1, 9999.0f);
    set().join_kinds(masks.data(), count, parts.weights, joined.data());
    EXPECT_EQ(joined.back(), 9999.0f) << count;
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(joined[i], w[i]) << count << ", " << i;
  }
}

TEST_P(Sparse, AdagradOnMaskedWeightsAgreesWithScalar) {
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

}  // namespace
}  // namespace slide::kernels

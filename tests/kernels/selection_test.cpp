// Tests of selection kernels (above a threshold, signs, sparsification): every instruction set bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/kernels/kernels.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/kernel_sets.h"

namespace slide::kernels {
namespace {

using test::Floats;
using test::kLanes;
using test::kLengths;
using test::kRows;
using test::normal_floats;

class Selection : public test::OfEverySet {};
INSTANTIATE_TEST_SUITE_P(Sets, Selection, testing::ValuesIn(available()), test::set_name);

TEST_P(Selection, SelectAboveListsExactlyWhatIsAboveInOrder) {
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

TEST_P(Selection, BehindBestIsTheScalarOneForEveryNumberOfSamples) {
  for (const std::size_t lanes : kLanes) {
    for (const std::size_t rows : {1U, 2U, 9U, 40U}) {
      const Floats z = normal_floats(rows * lanes, rows);
      for (std::size_t samples = 1; samples <= lanes; ++samples) {
        test::Guarded<float> least(rows);
        std::vector<float> want(rows);
        set().behind_best(z.data(), rows, lanes, samples, least.data());
        find("scalar")->behind_best(z.data(), rows, lanes, samples, want.data());
        ASSERT_TRUE(least.intact());
        ASSERT_EQ(std::vector<float>(least.data(), least.data() + rows), want) << rows << " x " << lanes;
      }
    }
  }
}

TEST_P(Selection, PackSignsIsTheScalarOneForEveryNumberOfBits) {
  for (const std::size_t lanes : kLanes) {
    for (std::size_t k = 0; k <= 32; ++k) {
      for (const bool more : {false, true}) {
        Floats z = normal_floats(k * lanes, k + 1);
        for (std::size_t i = 0; i < z.size(); ++i) {  // zeros, NaN and equal magnitudes
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

// By hand: bits from the first row on, zero counts as not negative, ties go to the first.
TEST_P(Selection, PackSignsOfAFewValues) {
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

// Magnitudes from far below the floor to above it, with zeros and both signs.
Floats small_and_large(std::size_t n, std::uint64_t seed) {
  Floats d = normal_floats(n, seed);
  for (std::size_t i = 0; i < n; ++i)
    d[i] = i % 5 == 4 ? 0.0f : d[i] * std::pow(10.0f, -static_cast<float>(i % 4));
  return d;
}

TEST_P(Selection, RoundSmallIsTheScalarOneAtEveryLength) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    for (const float floor : {0.0f, 0.3f, 10.0f}) {
      const std::uint32_t noise = static_cast<std::uint32_t>(n) * 77777u + 5u;
      const Floats before = small_and_large(n, n);
      Floats d = small_and_large(n, n), want = small_and_large(n, n), values(n + 1), want_values(n + 1);
      test::Guarded<std::uint32_t> places(n + 1), want_places(n + 1);
      const std::size_t count = set().sparsify(d.data(), n, floor, noise, places.data(), values.data());
      const std::size_t wanted =
          find("scalar")->sparsify(want.data(), n, floor, noise, want_places.data(), want_values.data());
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

// The mean over 40,000 rounds of a gradient of `size` times the floor has a standard deviation of at most
// floor / 400.
TEST_P(Selection, RoundSmallKeepsTheMean) {
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
    set().sparsify(d.data(), kValues, floor, round * 2654435761u, places.data(), values.data());
    for (std::size_t i = 0; i < kValues; ++i) sums[i] += double(d[i]);
  }
  for (std::size_t i = 0; i < kValues; ++i)
    EXPECT_NEAR(sums[i] / kRounds, double(value(i)), 5 * floor / 400) << i;
}

}  // namespace
}  // namespace slide::kernels

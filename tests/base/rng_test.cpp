// Tests of random streams: keys, ranges, moments. All seeds are fixed, so that no test fails by chance.
#include "engine/base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace slide {
namespace {

TEST(Rng, TheSameKeyGivesTheSameStream) {
  Rng a(7, Purpose::kTest, 3, 4), b(7, Purpose::kTest, 3, 4);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Rng, EveryPartOfTheKeyMatters) {
  std::set<std::uint64_t> firsts;
  std::size_t keys = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (const Purpose purpose :
         {Purpose::kWeights, Purpose::kShuffle, Purpose::kSampling, Purpose::kDropout}) {
      for (std::uint64_t step = 0; step < 16; ++step) {
        for (std::uint64_t item = 0; item < 16; ++item, ++keys)
          firsts.insert(Rng(seed, purpose, step, item).next());
      }
    }
  }
  EXPECT_EQ(firsts.size(), keys);
}

// Streams start at random positions of one sequence of period 2^64: adjacent streams must not overlap.
TEST(Rng, NeighbouringStreamsShareNoNumbers) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t item = 0; item < 64; ++item) {
    Rng rng(1, Purpose::kTest, 0, item);
    for (int i = 0; i < 64; ++i) seen.insert(rng.next());
  }
  EXPECT_EQ(seen.size(), 64u * 64u);
}

TEST(Rng, BelowStaysBelow) {
  Rng rng(1, Purpose::kTest);
  for (const std::uint32_t bound : {1u, 2u, 3u, 10u, 1000u, 0x80000000u, 0xffffffffu}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(rng.below(bound), bound);
  }
  EXPECT_EQ(rng.below(1), 0u);
}

// Chi-square with 36 degrees of freedom: mean 36, standard deviation 8.5; 80 is more than five of them above.
TEST(Rng, BelowIsUniform) {
  constexpr std::uint32_t kCells = 37;
  constexpr int kDraws = 37'000;
  std::vector<int> counts(kCells);
  Rng rng(2, Purpose::kTest);
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(kCells)];
  double chi_square = 0.0;
  for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 80.0);
  EXPECT_GT(chi_square, 10.0);  // implausibly even counts would be an error too
}

TEST(Rng, UniformIsInTheUnitIntervalWithItsMoments) {
  constexpr int kDraws = 200'000;
  Rng rng(3, Purpose::kTest);
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u, squares += u * u;
  }
  // Standard errors: sqrt(1/12/n) = 6.5e-4 and sqrt(4/45/n) = 6.7e-4; five of them.
  EXPECT_NEAR(sum / kDraws, 0.5, 3.3e-3);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3.0, 3.4e-3);
}

TEST(Rng, NormalHasTheFirstFourMoments) {
  constexpr int kDraws = 200'000;
  Rng rng(4, Purpose::kTest);
  double moment[5] = {};
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    ASSERT_TRUE(std::isfinite(x));
    double power = 1.0;
    for (double& m : moment) m += power / kDraws, power *= x;
  }
  // Five standard errors: sqrt(var(x^k) / n) = 2.2e-3, 3.2e-3, 8.7e-3, 2.2e-2 for k = 1..4.
  EXPECT_NEAR(moment[1], 0.0, 1.1e-2);
  EXPECT_NEAR(moment[2], 1.0, 1.6e-2);
  EXPECT_NEAR(moment[3], 0.0, 4.4e-2);
  EXPECT_NEAR(moment[4], 3.0, 1.1e-1);
}

}  // namespace
}  // namespace slide

// Tests of initial weights: independent of the writing thread and scaled by init_scale; the thread that owns
// a row touches its memory first.
#include "engine/network/parameters.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "engine/base/parallel.h"
#include "tests/network/network_test_util.h"

namespace slide {
namespace {

TEST(FillUniform, IsTheSameWhicheverThreadWritesWhichRows) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const Parameters zero(20001, 96, precision);
    const auto filled = [&](int threads, std::span<const std::size_t> ends) {
      Parameters matrix(zero.rows, zero.columns, precision);
      matrix.fill_uniform(0.1, 7, 3, threads, ends);
      return matrix;
    };
    const Parameters one = filled(1, {});
    for (const int threads : {2, 3, 8}) {
      std::vector<std::size_t> ends(Indices::ranges(threads), 6000);
      ends.front() = 10;
      ends.back() = UINT32_MAX;  // as FeatureShards reports for the last one
      for (const Parameters& other : {filled(threads, {}), filled(threads, ends)}) {
        EXPECT_TRUE(std::ranges::equal(one.weights, other.weights)) << threads;
        EXPECT_TRUE(std::ranges::equal(one.pairs, other.pairs)) << threads;
      }
    }
    std::vector<float> row(one.columns);
    for (const std::size_t r : {std::size_t{0}, one.rows - 1}) {
      one.load_row(r, row.data());
      EXPECT_TRUE(std::ranges::none_of(row, [](float w) { return w == 0.0f; })) << "row " << r;
    }
  }
}

// Memory comes from the node of the thread that first writes a page: number of pages of each of two threads
// after `fill`.
template <class F>
std::array<long, 2> pages_by_thread(F&& fill) {
  std::array<long, 2> pages{};
  const auto add = [&](long sign) {
    parallel_run(2, [&](int thread) {
      rusage usage{};
      getrusage(RUSAGE_THREAD, &usage);
      pages[static_cast<std::size_t>(thread)] += sign * usage.ru_minflt;
    });
  };
  add(1);  // the first call touches the stacks
  pages = {};
  add(-1);
  fill();
  add(1);
  return pages;
}

TEST(FillUniform, TheOwnerOfARowTouchesItFirst) {
  if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) GTEST_SKIP() << "large pages cannot be switched off here";
  constexpr std::size_t kRows = 1 << 16;
  Parameters owned(kRows, 128), in_turns(kRows, 128);
  const auto all = static_cast<double>(owned.bytes()) / 4096;
  const std::vector<std::size_t> ends = {kRows / 4, kRows};
  const auto by_owner = pages_by_thread([&] { owned.fill_uniform(0.1, 7, 3, 2, ends); });
  const auto by_turns = pages_by_thread([&] { in_turns.fill_uniform(0.1, 7, 3, 2); });
  prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  if (by_owner[0] + by_owner[1] < static_cast<long>(all / 2)) GTEST_SKIP() << "pages are not counted here";
  const auto share = [&](const std::array<long, 2>& pages) {
    return double(pages[0]) / double(pages[0] + pages[1]);
  };
  EXPECT_NEAR(share(by_owner), 0.25, 0.03);
  EXPECT_NEAR(share(by_turns), 0.5, 0.03);
}

// Equal random numbers for any scale: 2 doubles the hidden layers, and the output layer may be all 0.
TEST(FirstWeights, AreDrawnTimesInitScale) {
  const Dataset data = test::make_data({});
  const auto first_weights = [&](double hidden, double output) {
    Config config = test::small_wide_config();
    config.layers.insert(config.layers.begin(), config.layers.front());
    config.layers[0].init_scale = config.layers[1].init_scale = hidden;
    config.layers[2].init_scale = output;
    Network network(config, test::shape_of_data(data));
    network.initialise(1);
    std::vector<std::vector<float>> weights;
    for (const Parameters* matrix : network.matrices()) {
      const std::span<const float> all = matrix->weights.span();
      weights.emplace_back(all.begin(), all.end());
    }
    return weights;
  };
  const auto once = first_weights(1.0, 1.0), other = first_weights(2.0, 0.0);
  ASSERT_EQ(once.size(), 6u);
  for (std::size_t m = 0; m < once.size(); ++m) {
    std::vector<float> wanted = once[m];
    for (float& weight : wanted) weight *= m < 4 ? 2.0f : 0.0f;
    EXPECT_EQ(other[m], wanted) << "matrix " << m;
    const bool drawn = std::ranges::any_of(once[m], [](float weight) { return weight != 0.0f; });
    EXPECT_EQ(drawn, m % 2 == 0) << "matrix " << m;
  }
}

}  // namespace
}  // namespace slide

// First weights are the same whoever writes them, and the thread that owns a row touches it first.
#include "engine/network/parameters.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>

#include "engine/base/parallel.h"

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
      std::vector<std::size_t> ends(Indices::stretches(threads), 6000);
      ends.front() = 10;
      ends.back() = UINT32_MAX;  // what FeatureShards says of the last one
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

// Memory comes from the node of the thread at whose first write the kernel hands out the page: how many pages
// each of two threads gets by `fill`.
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
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);  // not every large page can be had
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

}  // namespace
}  // namespace slide

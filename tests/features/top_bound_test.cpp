// Tests of the top-k bound, against sorted values.
#include "engine/statistics/top_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/base/rng.h"

namespace slide::test {
namespace {

TEST(TopBound, EnoughReachItAndFewOthers) {
  Rng rng(1, Purpose::kTest, 43);
  std::vector<std::uint64_t> first;
  for (const std::size_t most : {1U, 3U, 16U, 64U}) {
    for (const std::size_t count : {4 * most, 4 * most + 1, 7 * most + 2, 40 * most}) {
      for (const std::uint32_t kinds : {2U, 50U, 1'000'000'000U}) {  // few: many equal values
        std::vector<std::uint64_t> values(count);
        for (auto& value : values) value = rng.below(kinds);
        const std::uint64_t bound = top_bound<std::uint64_t>(most, values, std::less<>(), UINT64_MAX, first);
        const auto reach = std::ranges::count_if(values, [&](std::uint64_t value) { return value <= bound; });
        EXPECT_GE(reach, std::ptrdiff_t(most)) << count;
        EXPECT_TRUE(std::ranges::find(values, bound) != values.end()) << count;
        if (kinds == 1'000'000'000U && most > 3 && count == 40 * most) {
          EXPECT_LT(reach, std::ptrdiff_t(3 * most));
        }
      }
    }
  }
}

TEST(TopBound, OfTooFewIsNone) {
  std::vector<float> first;
  const std::vector<float> values{3.0f, 2.0f, 1.0f};
  EXPECT_EQ(top_bound<float>(1, values, std::greater<>(), -1.0f, first), -1.0f);
  EXPECT_EQ(top_bound<float>(0, values, std::greater<>(), -1.0f, first), -1.0f);
}

}  // namespace
}  // namespace slide::test

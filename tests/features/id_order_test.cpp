// Tests of the bitmap sort, for any number and positions of ids, in consecutive calls.
#include "engine/base/id_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "engine/base/rng.h"

namespace slide::test {
namespace {

TEST(IdOrder, IsThatOfASort) {
  for (const std::uint32_t count : {1U, 63U, 64U, 65U, 4096U, 4097U, 100000U}) {
    IdOrder order(count);
    for (const std::uint32_t wanted : {0U, 1U, 2U, 40U, 3000U}) {
      Rng rng(1, Purpose::kTest, count, wanted);
      std::set<std::uint32_t> distinct = {count - 1};
      for (std::uint32_t i = 0; i < wanted; ++i) distinct.insert(rng.below(count));
      std::vector<std::uint32_t> ids(distinct.begin(), distinct.end());
      for (std::size_t i = ids.size(); i > 1; --i)
        std::swap(ids[i - 1], ids[rng.below(static_cast<std::uint32_t>(i))]);
      order.sort(ids);
      EXPECT_TRUE(std::ranges::equal(ids, distinct)) << wanted << " of " << count;
    }
    std::vector<std::uint32_t> none;
    order.sort(none);
    EXPECT_TRUE(none.empty());
  }
}

}  // namespace
}  // namespace slide::test

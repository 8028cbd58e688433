// Tests of the queue of rows to update in the hash tables.
#include "lsh/stale_rows.h"

#include <gtest/gtest.h>

#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/network/row_groups.h"

namespace slide {
namespace {

using Ids = std::vector<std::uint32_t>;

Ids taken(StaleRows& rows, double share) {
  const auto ids = rows.take(share);
  return {ids.begin(), ids.end()};
}

void add(StaleRows& rows, std::uint32_t shards, const Ids& ids) {
  for (const std::uint32_t id : ids) rows.add(id, shard_of(id, shards));
}

class StaleRowsOfShards : public testing::TestWithParam<std::uint32_t> {};

TEST_P(StaleRowsOfShards, AWholeShareTakesEachRowOnceAscending) {
  StaleRows rows;
  rows.prepare(100, GetParam());
  add(rows, GetParam(), {70, 3, 70, 41, 3});
  EXPECT_EQ(taken(rows, 1.0), (Ids{3, 41, 70}));
  EXPECT_EQ(taken(rows, 1.0), Ids{});
  add(rows, GetParam(), {70});
  EXPECT_EQ(taken(rows, 1.0), Ids{70});
}

TEST_P(StaleRowsOfShards, AShareTakesThoseThatWaitLongest) {
  StaleRows rows;
  rows.prepare(100, GetParam());
  add(rows, GetParam(), {90, 20, 55, 30});
  EXPECT_EQ(taken(rows, 0.5), (Ids{20, 30}));
  add(rows, GetParam(), {1, 20, 99, 2});  // 20 is stale again and follows 55 and 90
  EXPECT_EQ(taken(rows, 0.5), (Ids{55, 90}));
  add(rows, GetParam(), {1, 1, 1, 1, 1, 1});  // is queued already, but every update counts
  EXPECT_EQ(taken(rows, 0.5), (Ids{1, 2, 20}));
  EXPECT_EQ(taken(rows, 0.5), Ids{});  // no update: nothing to do
  add(rows, GetParam(), {7});
  EXPECT_EQ(taken(rows, 0.1), Ids{99});  // at least one
}

TEST_P(StaleRowsOfShards, ClearForgetsAll) {
  StaleRows rows;
  rows.prepare(10, GetParam());
  add(rows, GetParam(), {1, 2, 3, 4});
  taken(rows, 0.25);
  add(rows, GetParam(), {5});
  rows.clear();
  EXPECT_EQ(taken(rows, 1.0), Ids{});
  add(rows, GetParam(), {5, 1});
  EXPECT_EQ(taken(rows, 1.0), (Ids{1, 5}));
}

INSTANTIATE_TEST_SUITE_P(Shards, StaleRowsOfShards, testing::Values(1, 2, 7));

TEST(StaleRows, ContinueFromSavedStateWithOtherShards) {
  StaleRows rows, again;
  rows.prepare(100, 3);
  again.prepare(100, 2);
  add(rows, 3, {90, 20, 55, 30});
  taken(rows, 0.25);
  add(rows, 3, {60, 10, 55});
  ByteString saved;
  rows.save(saved);
  ByteReader in(saved.bytes(), "state", "");
  again.load(in);
  for (const double share : {0.5, 0.0, 1.0}) {
    add(rows, 3, {4, 90});
    add(again, 2, {4, 90});
    EXPECT_EQ(taken(again, share), taken(rows, share)) << share;
  }
}

TEST(StaleRows, RefuseImpossibleState) {
  StaleRows rows, smaller;
  rows.prepare(100, 1);
  smaller.prepare(50, 1);
  add(rows, 1, {70});
  ByteString saved;
  rows.save(saved);
  ByteReader in(saved.bytes(), "state", "");
  EXPECT_THROW(smaller.load(in), InputError);
}

}  // namespace
}  // namespace slide

// Tests of the agreement of processes on one machine about processors. Ranks are threads here, each with its
// own mask.
#include "engine/run/ranks.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "engine/base/error.h"
#include "engine/base/pinning.h"
#include "tests/network/fake_cluster.h"

namespace slide::test {
namespace {

using Numbers = std::vector<int>;

void keep_to(const Numbers& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

class OwnProcessors : public ::testing::Test {
 protected:
  // own_processors() of ranks with these masks.
  static std::vector<Numbers> owned(const std::vector<Numbers>& masks) {
    std::vector<Numbers> all(masks.size());
    run_ranks(static_cast<int>(masks.size()), [&](FakeCluster& cluster) {
      const auto rank = static_cast<std::size_t>(cluster.rank());
      keep_to(masks[rank]);
      all[rank] = own_processors(&cluster);
    });
    return all;
  }
  const Numbers allowed_ = allowed_processors();
};

TEST_F(OwnProcessors, AreAllOfThemForOneProcess) {
  EXPECT_EQ(own_processors(nullptr), allowed_);
  EXPECT_EQ(owned({allowed_}), std::vector<Numbers>{allowed_});
}

TEST_F(OwnProcessors, AreSharedOutAmongProcessesThatMayUseTheSame) {
  for (const std::size_t ranks : {2, 3, 5}) {
    Numbers all;
    for (const Numbers& own : owned(std::vector<Numbers>(ranks, allowed_))) {
      EXPECT_GE(own.size(), allowed_.size() / ranks);
      all.insert(all.end(), own.begin(), own.end());
    }
    std::ranges::sort(all);
    EXPECT_EQ(all, allowed_) << ranks;
  }
}

TEST_F(OwnProcessors, StayThoseThatALauncherGave) {
  if (allowed_.size() < 2) GTEST_SKIP() << "one processor";
  const std::vector<Numbers> masks = {{allowed_[1]}, {allowed_[0]}};
  EXPECT_EQ(owned(masks), masks);
}

TEST_F(OwnProcessors, AreRefusedOnAllRanksWhereTwoMayUseSomeOfTheSame) {
  if (allowed_.size() < 2) GTEST_SKIP() << "one processor";
  std::atomic<int> refused = 0;
  run_ranks(3, [&](FakeCluster& cluster) {
    keep_to(cluster.rank() == 2 ? Numbers{allowed_[0]} : allowed_);
    try {
      own_processors(&cluster);
    } catch (const InputError& error) {
      EXPECT_EQ(
          std::string(error.what()),
          "ranks 0 and 2 may run on some of the same cores, but not on all; start them with the same cores, "
          "or each with its own, or leave --pin out");
      ++refused;
    }
  });
  EXPECT_EQ(refused, 3);
}

TEST(OwnThreads, AreAsManyAsRequestedElseAShare) {
  EXPECT_EQ(own_threads(5, nullptr), 5);
  const int alone = own_threads(0, nullptr);
  EXPECT_GE(alone, 1);
  run_ranks(2, [&](FakeCluster& cluster) {
    EXPECT_EQ(own_threads(5, &cluster), 5);
    EXPECT_EQ(own_threads(0, &cluster), std::max(1, alone / 2));
  });
}

TEST(OwnThreads, AreNotSharedWithProcessesOnOtherCores) {
  const Numbers allowed = allowed_processors();
  if (allowed.size() < 2) GTEST_SKIP() << "one processor";
  run_ranks(2, [&](FakeCluster& cluster) {
    keep_to({allowed[static_cast<std::size_t>(cluster.rank())]});
    EXPECT_EQ(own_threads(0, &cluster), own_threads(0, nullptr));
  });
}

}  // namespace
}  // namespace slide::test

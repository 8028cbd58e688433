// Tests of CPU pinning: order of cores, one thread per core, scope of the binding.
#include "engine/base/pinning.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "tests/files.h"

namespace slide {
namespace {

using Numbers = std::vector<int>;

// A folder with the kernel's description of a machine.
class FakeSystem {
 public:
  void add(const std::string& file, const std::string& text) const { folder_.write(file, text + "\n"); }
  void add_core(const Numbers& processors) const {
    for (const int one : processors) {
      add(fmt::format("cpu/cpu{}/topology/thread_siblings_list", one),
          fmt::format("{}", fmt::join(processors, ",")));
    }
  }
  Numbers order(const Numbers& processors) const { return pin_order(processors, folder_.root()); }
  Numbers share(const Numbers& processors, std::size_t part, std::size_t parts) const {
    return share_of(processors, part, parts, folder_.root());
  }

 private:
  TemporaryFolder folder_;
};

const Numbers kEight = {0, 1, 2, 3, 4, 5, 6, 7};

TEST(PinOrder, CoresOfOneNodeAfterTheOtherThenHyperthreads) {
  const FakeSystem system;
  system.add("node/online", "0-1");
  system.add("node/node0/cpulist", "0-3");
  system.add("node/node1/cpulist", "4-7");
  for (const int first : {0, 2, 4, 6}) system.add_core({first, first + 1});
  EXPECT_EQ(system.order(kEight), (Numbers{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(system.order({1, 4, 5}), (Numbers{1, 4, 5})) << "1 is the only one of its core that may be used";
}

TEST(PinOrder, NodesWhoseProcessorsTakeTurns) {
  const FakeSystem system;
  system.add("node/online", "0,2");
  system.add("node/node0/cpulist", "0,2,4,6");
  system.add("node/node2/cpulist", "1,3,5,7");
  for (const int first : {0, 1, 2, 3}) system.add_core({first, first + 4});
  EXPECT_EQ(system.order(kEight), (Numbers{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(PinOrder, WhatIsNotToldOfIsACoreOfItsOwn) {
  const FakeSystem system;
  EXPECT_EQ(system.order(kEight), kEight);
  system.add("node/online", "0-1");
  system.add("node/node1/cpulist", "0-1,x");
  EXPECT_EQ(system.order({0, 1, 2, 5}), (Numbers{2, 5, 0, 1}));
}

TEST(ShareOf, ProcessesGetNodesAndWholeCores) {
  const FakeSystem system;
  system.add("node/online", "0-1");
  system.add("node/node0/cpulist", "0,1,4,5");
  system.add("node/node1/cpulist", "2,3,6,7");
  for (const int first : {0, 1, 2, 3}) system.add_core({first, first + 4});
  EXPECT_EQ(system.share(kEight, 0, 2), (Numbers{0, 1, 4, 5}));
  EXPECT_EQ(system.share(kEight, 1, 2), (Numbers{2, 3, 6, 7}));
  EXPECT_EQ(system.share(kEight, 1, 4), (Numbers{1, 5}));
  EXPECT_EQ(system.share({1, 2, 5, 6}, 1, 2), (Numbers{2, 6}));
}

TEST(ShareOf, EachProcessorIsSomeonesOnce) {
  const FakeSystem system;
  for (const std::size_t parts : {1, 2, 3, 7, 8, 11}) {
    Numbers all;
    for (std::size_t part = 0; part < parts; ++part) {
      const Numbers share = system.share(kEight, part, parts);
      EXPECT_LE(share.size(), (kEight.size() + parts - 1) / parts);
      all.insert(all.end(), share.begin(), share.end());
    }
    EXPECT_EQ(all, kEight) << parts;
  }
}

TEST(PinOrder, OfThisMachineHasEachProcessorOnce) {
  Numbers order = pin_order(allowed_processors());
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, allowed_processors());
  EXPECT_FALSE(order.empty());
}

class PinningTest : public testing::Test {
 protected:
  // The processors allowed for each thread of a region.
  std::vector<Numbers> masks() const {
    std::vector<Numbers> all(kThreads);
    parallel_run(static_cast<int>(kThreads),
                 [&](int thread) { all[static_cast<std::size_t>(thread)] = allowed_processors(); });
    return all;
  }
  void expect_free() const {
    EXPECT_EQ(Pinning::current(), nullptr);
    EXPECT_EQ(masks(), std::vector<Numbers>(kThreads, processors_));
  }
  void expect_bound(const std::vector<Numbers>& masks) const {
    const Numbers order = pin_order(processors_);
    for (std::size_t t = 0; t < kThreads; ++t)
      EXPECT_EQ(masks[t], t < order.size() ? Numbers{order[t]} : processors_) << "thread " << t;
  }

  static constexpr std::size_t kThreads = 3;
  const Numbers processors_ = allowed_processors();
};

TEST_F(PinningTest, EachThreadOfARegionHasOneCore) {
  {
    const Pinning pinning(processors_, static_cast<int>(std::min(kThreads, processors_.size())));
    for (int i = 0; i < 3; ++i) expect_bound(masks());
  }
  expect_free();
}

TEST_F(PinningTest, EachThreadOfATeamHasOneCoreAndTheCallerAfterwardsItsOwn) {
  {
    if (processors_.size() < 2) GTEST_SKIP() << "one processor";
    const Pinning pinning(processors_, 2);
    with_team(static_cast<int>(kThreads), [&] {
      ASSERT_NE(Team::current(), nullptr);
      for (int i = 0; i < 3; ++i) expect_bound(masks());
    });
    EXPECT_EQ(allowed_processors(), processors_);
    EXPECT_THROW(with_team(2, [] { throw Error("end"); }), Error);
    EXPECT_EQ(allowed_processors(), processors_);
  }
  expect_free();
}

TEST_F(PinningTest, ARegionInARegionLeavesItsThreadWhereItIs) {
  const Pinning pinning(processors_, static_cast<int>(std::min<std::size_t>(2, processors_.size())));
  parallel_run(2, [&](int) {
    const Numbers before = allowed_processors();
    parallel_run(2, [&](int) { EXPECT_EQ(allowed_processors(), before); });
    EXPECT_EQ(allowed_processors(), before);
  });
}

TEST_F(PinningTest, ASingleThreadIsBoundThroughout) {
  {
    const Pinning pinning(processors_, 1);
    EXPECT_EQ(allowed_processors(), Numbers{pin_order(processors_).front()});
  }
  expect_free();
}

TEST_F(PinningTest, MoreThreadsThanProcessorsAreRefused) {
  EXPECT_THROW(Pinning(processors_, static_cast<int>(processors_.size()) + 1), InputError);
  EXPECT_THROW(Pinning({}, 1), InputError);
  expect_free();
}

}  // namespace
}  // namespace slide

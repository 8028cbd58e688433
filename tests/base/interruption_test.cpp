// Tests of interruptions: parallel work ends between two indices, and only under one that is wanted.
#include "engine/base/interruption.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/base/parallel.h"

namespace slide {
namespace {

constexpr std::size_t kEndless = 1'000'000;  // of a millisecond each

void take_a_millisecond() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Interruption, EndsWorkBetweenTwoIndices) {
  for (const int threads : {1, 3}) {
    std::atomic<std::size_t> begun{0}, ended{0};
    const Interruption interruption([&] { return begun > 5; });
    EXPECT_THROW(parallel_for(kEndless, threads,
                              [&](std::size_t, int) {
                                ++begun;
                                take_a_millisecond();
                                ++ended;
                              }),
                 Interrupted);
    EXPECT_GT(begun, 5U);
    EXPECT_EQ(begun, ended);
    EXPECT_LT(begun, kEndless);
  }
}

TEST(Interruption, EndsWorkOfATeam) {
  const Interruption interruption([] { return true; });
  const auto work = [] { parallel_for(kEndless, 2, [](std::size_t, int) { take_a_millisecond(); }); };
  EXPECT_THROW(with_team(2, work), Interrupted);
}

TEST(Interruption, IsAskedByItsOwnThread) {
  const auto own = std::this_thread::get_id();
  int asked = 0;
  const Interruption interruption([&] {
    EXPECT_EQ(std::this_thread::get_id(), own);
    return ++asked == 3;
  });
  EXPECT_THROW(parallel_for(kEndless, 2, [](std::size_t, int) { take_a_millisecond(); }), Interrupted);
  EXPECT_EQ(asked, 3);
}

TEST(Interruption, OfOthersOrThatEndedIsNotAsked) {
  std::atomic<int> visits{0};
  const auto work = [&] { parallel_for(60, 2, [&](std::size_t, int) { ++visits, take_a_millisecond(); }); };
  const Interruption interruption([] { return true; });
  std::thread(work).join();
  EXPECT_EQ(visits, 60);
  {
    const Interruption inner([] { return false; });
    work();
  }
  EXPECT_EQ(visits, 120);
  EXPECT_EQ(Interruption::current(), &interruption);
  Interruption::end();
  work();
  EXPECT_EQ(visits, 180);
}

}  // namespace
}  // namespace slide

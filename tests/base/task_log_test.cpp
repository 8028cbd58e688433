// Tests of the task log and its prediction of run times.
#include "engine/base/task_log.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "engine/base/parallel.h"

namespace slide {
namespace {

TEST(TaskLog, TasksAreDoneInOrderByTheCallerAndTimed) {
  TaskLog log;
  std::vector<std::size_t> order;
  with_team(4, [&] {
    parallel_for(5, 4, [&](std::size_t i, int thread) {
      EXPECT_EQ(thread, 0);
      order.push_back(i);
      parallel_for(3, 4, [&](std::size_t j, int) { order.push_back(10 + j); });  // part of the outer task
    });
    parallel_for(1, 4, [&](std::size_t, int) { order.clear(); });
  });
  EXPECT_TRUE(order.empty());
  ASSERT_EQ(log.regions().size(), 2U);
  EXPECT_EQ(log.regions()[0].tasks, 5U);
  EXPECT_EQ(log.regions()[1].tasks, 1U);
  ASSERT_EQ(log.seconds().size(), 6U);
  for (const double seconds : log.seconds()) EXPECT_GE(seconds, 0.0);
  log.clear();
  EXPECT_TRUE(log.regions().empty());
  EXPECT_TRUE(log.seconds().empty());
  EXPECT_GE(log.after(), 0.0);
}

TEST(TaskLog, OrderIsThatOfIndices) {
  TaskLog log;
  std::vector<std::size_t> order;
  parallel_for(4, 2, [&](std::size_t i, int) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(TaskLog, IsOpenWhileItLives) {
  EXPECT_EQ(TaskLog::current(), nullptr);
  {
    TaskLog log;
    EXPECT_EQ(TaskLog::current(), &log);
    EXPECT_THROW(parallel_for(2, 2, [](std::size_t, int) { throw std::runtime_error("it"); }),
                 std::runtime_error);
    EXPECT_EQ(log.regions().back().tasks, 0U);
    std::size_t tasks = 0;
    parallel_for(2, 2, [&](std::size_t, int) { ++tasks; });
    EXPECT_EQ(log.regions().back().tasks, tasks);
  }
  EXPECT_EQ(TaskLog::current(), nullptr);
}

TEST(TaskLog, MakespanOfGreedyThreads) {
  const std::vector<double> tasks = {3, 1, 2, 2, 4};
  EXPECT_EQ(greedy_makespan(tasks, 1), 12);
  EXPECT_EQ(greedy_makespan(tasks, 2), 7);  // 3 and 4; 1, 2 and 2
  EXPECT_EQ(greedy_makespan(tasks, 5), 4);
  EXPECT_EQ(greedy_makespan(tasks, 100), 4);
  EXPECT_EQ(greedy_makespan({}, 3), 0);
}

}  // namespace
}  // namespace slide

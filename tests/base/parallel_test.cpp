// Tests of thread teams: each index once, exceptions propagate.
#include "engine/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "tests/expect.h"
#include "tests/sanitizers.h"

namespace slide {
namespace {

TEST(Parallel, ForCoversEachIndexOnce) {
  for (const int threads : {0, 1, 2, 3, 8}) {
    for (const std::size_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> visits(count);
      parallel_for(count, threads, [&](std::size_t i, int thread) {
        ++visits[i];
        EXPECT_GE(thread, 0);
        EXPECT_LT(thread, std::max(1, threads));
      });
      for (const auto& n : visits) ASSERT_EQ(n, 1) << count << " on " << threads;
    }
  }
}

TEST(Parallel, EachIndexIsTakenOnceByAnyThread) {
  for (const int threads : {1, 2, 3, 64, 65, 200}) {
    for (const std::size_t count : {0, 1, 5, 64, 1000}) {
      Indices indices(count, threads);
      std::vector<int> taken(count);
      for (std::size_t index = 0; indices.take(threads - 1, index);) ++taken[index];
      EXPECT_EQ(taken, std::vector<int>(count, 1)) << count << " on " << threads;
    }
  }
}

TEST(Parallel, AThreadBeginsWithARangeOfItsOwn) {
  Indices indices(10, 2);
  std::size_t index = 0;
  ASSERT_TRUE(indices.take(1, index));
  EXPECT_EQ(index, 5U);
  ASSERT_TRUE(indices.take(0, index));
  EXPECT_EQ(index, 0U);
}

TEST(Parallel, OwnedIndicesAndTurnsAreEachDoneOnceByTheirThread) {
  for (const int threads : {1, 2, 3, 8, 70}) {
    for (const std::size_t count : {0, 1, 2, 7, 1000}) {
      const std::size_t owners = Indices::ranges(threads);
      std::vector<std::size_t> ends(owners, count / 3);  // most owners have no index
      ends.back() = count;
      std::vector<std::vector<int>> by(2, std::vector<int>(count, -1));
      const auto visit = [](int& entry) {
        EXPECT_EQ(entry, -1);
        entry = current_thread();
      };
      parallel_owned(ends, threads, [&](std::size_t i) { visit(by[0][i]); });
      parallel_in_turns(count, threads, [&](std::size_t i) { visit(by[1][i]); });
      for (std::size_t i = 0; i < count; ++i) {
        const int owner = i < ends.front() ? 0 : static_cast<int>(owners) - 1;
        ASSERT_EQ(by[0][i], owner) << count << " on " << threads;
        ASSERT_EQ(by[1][i], static_cast<int>(i % owners)) << count << " on " << threads;
      }
    }
  }
}

TEST(Parallel, EvenEndsAreWhereThreadsBegin) {
  const std::vector<std::size_t> ends = even_ends(10, 4);
  EXPECT_EQ(ends, (std::vector<std::size_t>{2, 5, 7, 10}));
  for (std::size_t t = 1; t < ends.size(); ++t) {
    Indices indices(10, 4);
    std::size_t index = 0;
    ASSERT_TRUE(indices.take(static_cast<int>(t), index));
    EXPECT_EQ(index, ends[t - 1]);
  }
}

TEST(Parallel, OwnedIndicesCarryExceptions) {
  EXPECT_THROW(parallel_in_turns(10, 3,
                                 [](std::size_t i) {
                                   if (i == 4) throw Error("end");
                                 }),
               Error);
}

// A body may use `thread` to select scratch memory: no two concurrent bodies may have the same number.
TEST(Parallel, ForGivesAThreadNumberToOneBodyAtATime) {
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> shared = false;
  parallel_for(2000, 4, [&](std::size_t, int thread) {
    if (++inside[static_cast<std::size_t>(thread)] != 1) shared = true;
    --inside[static_cast<std::size_t>(thread)];
  });
  EXPECT_FALSE(shared);
}

TEST(Parallel, RunCallsEachThreadNumberOnce) {
  for (const int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(threads));
    parallel_run(threads, [&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
    for (const auto& n : calls) ASSERT_EQ(n, 1);
  }
}

// Up to three levels of counting groups: each job ends after all workers and before the next job begins.
TEST(Parallel, ATeamEndsEachJobWhenAllHave) {
  for (const int threads : {2, 5, 6, 18, 23}) {
    with_team(threads, [&] {
      std::vector<int> done(static_cast<std::size_t>(threads));
      for (int job = 1; job <= 20; ++job) {
        parallel_run(threads, [&](int thread) { ++done[static_cast<std::size_t>(thread)]; });
        for (const int jobs : done) ASSERT_EQ(jobs, job);
      }
    });
  }
}

TEST(Parallel, ForCarriesAnExceptionOut) {
  for (const int threads : {1, 4}) {
    EXPECT_EQ(input_error([&] {
                parallel_for(100, threads, [](std::size_t i, int) {
                  if (i == 37) throw InputError("sample 37");
                });
              }),
              "sample 37");
  }
}

TEST(Parallel, OneOfManyExceptionsIsCarriedOut) {
  for (const int threads : {1, 2, 4}) {
    EXPECT_THROW(parallel_for(100, threads, [](std::size_t, int) { throw std::out_of_range("x"); }),
                 std::out_of_range);
    EXPECT_THROW(parallel_run(threads, [](int) { throw std::out_of_range("x"); }), std::out_of_range);
  }
}

TEST(Parallel, ATeamWorksAfterAnException) {
  EXPECT_THROW(parallel_for(10, 3, [](std::size_t, int) { throw Error("x"); }), Error);
  std::atomic<int> calls = 0;
  parallel_for(10, 3, [&](std::size_t, int) { ++calls; });
  EXPECT_EQ(calls, 10);
}

// Inside a parallel region the runtime gives a team one thread for any request: no thread may wait for the
// missing ones.
TEST(Parallel, ATeamOfFewerThreadsThanRequestedWorks) {
  std::atomic<int> calls = 0;
  parallel_run(2, [&](int) {
    with_team(3, [&] {
      for (int round = 0; round < 10; ++round) parallel_run(3, [&](int) { ++calls; });
    });
  });
  EXPECT_EQ(calls, 2 * 10 * 3);
}

TEST(Parallel, ThreadCountsResolve) {
  EXPECT_GE(available_threads(), 1);
  EXPECT_EQ(resolve_threads(0), available_threads());
  EXPECT_EQ(resolve_threads(3), 3);
  EXPECT_EQ(current_thread(), 0);
}

// The OpenMP runtime would print a line of its own and end the program.
TEST(Parallel, ThreadsThatCannotBeStartedAreAnError) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need more address space than any limit";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{std::size_t{1} << 30, RLIM_INFINITY};  // 8 MB of stack a thread
    int code = 1;
    try {
      if (setrlimit(RLIMIT_AS, &limit) == 0) parallel_run(2000, [](int) {});
    } catch (const Error& error) {
      code = std::string(error.what()).starts_with("out of memory or processes: 2000 threads") ? 7 : 2;
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  parallel_run(3, [](int) {});
}

}  // namespace
}  // namespace slide

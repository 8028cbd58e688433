// Tests of the start of 'slide serve' on a machine that does not give what it asks for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>

#include "tests/sanitizers.h"
#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class StartTest : public ServeTest {
 protected:
  // What a server says that cannot start under a limit; it is killed after half a minute.
  static Outcome refused(int resource, rlim_t limit, Strings arguments) {
    arguments.insert(arguments.begin(), {"serve", "ids/model.slide", "--port", "0"});
    Outcome outcome;
    outcome.code = wait_for(slide_->start(arguments, [&] {
      const rlimit limits = {limit, limit};
      const int errors = open("start.err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (setrlimit(static_cast<__rlimit_resource_t>(resource), &limits) != 0 || dup2(errors, 2) < 0)
        _exit(97);
      alarm(30);
    }));
    outcome.err = read_file(slide_->path("start.err"));
    return outcome;
  }
};

TEST_F(StartTest, ThreadsThatCannotStartEndItInOneLine) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve address space";
  const Outcome outcome = refused(RLIMIT_AS, 150000000, {"--threads", "64"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, " of 64 threads ("));
  EXPECT_TRUE(contains(outcome.err, "lower --threads"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

// Idle clients take no file that a refusal, a reload or the log needs.
TEST_F(StartTest, ALowLimitOfOpenFilesIsToldAndHarmsNothing) {
  ServerProcess server(folder(), {"ids/model.slide", "--access-log", "few.jsonl"}, 60);
  EXPECT_TRUE(contains(server.errors(), "the limit of open files is 60"));
  EXPECT_TRUE(contains(server.errors(), "in place of 1000"));
  std::deque<Client> idle;
  unsigned told = 0;
  for (int c = 0; c < 80 && told < 5; ++c) {
    idle.emplace_back(server.port());
    if (!idle.back().hears(c < 20 ? 0 : 300)) continue;
    EXPECT_EQ(idle.back().receive().code, 503u);
    ++told;
    idle.pop_back();
  }
  EXPECT_EQ(told, 5u);
  std::filesystem::rename(slide_->path("few.jsonl"), slide_->path("few.jsonl.1"));
  server.signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return server.errors().find("reloaded") != std::string::npos; }))
      << server.errors();
  EXPECT_TRUE(std::filesystem::exists(slide_->path("few.jsonl")));
  EXPECT_EQ(server.stop(), 0) << server.errors();
  idle.clear();  // a child would have their files, too
  const Outcome outcome = refused(RLIMIT_NOFILE, 22, {});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
}

}  // namespace
}  // namespace slide::test

// Tests of the start of 'slide serve' on a machine that does not give what it asks for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

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
  EXPECT_NE(outcome.err.find(" of 64 threads ("), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("lower --threads"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace
}  // namespace slide::test

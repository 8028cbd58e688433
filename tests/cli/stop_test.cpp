// Tests of signals to `slide train` before its first step.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

// Whether a process has a handler for the signal, according to the system.
bool catches(pid_t process, int signal) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigCgt:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1U) != 0;
  }
  return false;
}

class StopTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
  }
  // The exit code after `signal` arrives while the program waits for the folder "out", which this process
  // locks.
  int stopped(const std::vector<std::string>& arguments, int signal) {
    fs::create_directories(slide_.path("out"));
    const int lock = open(slide_.path("out").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_EQ(flock(lock, LOCK_EX), 0);
    const pid_t child = slide_.start(arguments, [] {
      dup2(open("child-out", O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
      dup2(open("child-err", O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
    });
    EXPECT_TRUE(wait_until([&] { return catches(child, signal); }));
    kill(child, signal);
    const int code = wait_for(child);
    close(lock);
    return code;
  }
  const std::vector<std::string> begin_ = {"train", "small.toml", "--set",  "data.train=data/train.txt",
                                           "--out", "out",        "--quiet"};
};

TEST_F(StopTest, BeforeTheFirstStepASignalEndsAtOnceAndSaysSo) {
  for (const auto& [signal, name] :
       {std::pair(SIGINT, "SIGINT"), std::pair(SIGTERM, "SIGTERM"), std::pair(SIGHUP, "SIGHUP")}) {
    EXPECT_EQ(stopped(begin_, signal), 128 + signal);
    EXPECT_EQ(file("child-err"),
              fmt::format("slide: stopped by {} before the first step; there is nothing to go on with: start "
                          "again\n",
                          name));
    EXPECT_TRUE(fs::is_empty(slide_.path("out")));
  }
}

TEST_F(StopTest, BeforeARunResumesASignalSaysHowTo) {
  ASSERT_EQ(slide_.run(begin_).code, 0);
  EXPECT_EQ(stopped({"train", "--resume", "out"}, SIGTERM), 128 + SIGTERM);
  EXPECT_EQ(file("child-err"),
            "slide: stopped by SIGTERM before it went on; go on with: slide train --resume out\n");
}

}  // namespace
}  // namespace slide::test

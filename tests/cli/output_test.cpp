// Tests of closed pipes and terminals as outputs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

class OutputTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    train_model();
  }
  static void send_errors_to(const char* file) { dup2(open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666), 2); }
  // Writes into a pipe whose other end is closed; standard error goes to child-err.
  int run_unread(const std::vector<std::string>& arguments) const {
    return wait_for(slide_.start(arguments, [] {
      int ends[2];
      if (pipe(ends) != 0 || dup2(ends[1], 1) < 0) _exit(97);
      close(ends[0]);
      close(ends[1]);
      send_errors_to("child-err");
    }));
  }
  std::string errors() const { return read_file(slide_.path("child-err")); }
  std::vector<std::string> training(const std::string& out, const char* epochs) const {
    return {"train", "small.toml",
            "--set", "data.train=data/train.txt",
            "--set", "train.epochs=" + std::string(epochs),
            "--out", out};
  }
};

TEST_F(OutputTest, PrintingWithoutAReaderEndsSilently) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"predict", "out/model.slide", "data/test.txt"},
        {"test", "out/model.slide", "data/test.txt"},
        {"inspect", "out/model.slide"},
        {"config", "--doc"}}) {
    EXPECT_EQ(run_unread(arguments), 128 + SIGPIPE) << arguments[0];
    EXPECT_EQ(errors(), "") << arguments[0];
  }
}

TEST_F(OutputTest, CommandsThatWriteFilesContinueWithoutReaders) {
  for (const std::vector<std::string>& arguments :
       {training("piped", "3"),
        {"tune", "small.toml", "--set", "data.train=data/train.txt", "--trials", "2", "--out", "tuned.toml"},
        {"convert", "data/test.txt", "test.svm"},
        {"generate", "--samples", "20", "--out", "made"},
        {"report", "out", "-o", "page.html"}}) {
    EXPECT_EQ(run_unread(arguments), 0) << arguments[0];
    EXPECT_EQ(errors(), "slide: standard output is closed; continuing without it\n") << arguments[0];
  }
  for (const char* file : {"piped/model.slide", "tuned.toml", "test.svm", "made/train.txt", "page.html"})
    EXPECT_TRUE(fs::exists(slide_.path(file))) << file;
}

TEST_F(OutputTest, AClosedTerminalStopsTrainingWithACheckpoint) {
  int terminal = -1;
  const pid_t child = slide_.start(
      training("cut", "40000"), [] {}, &terminal);
  ASSERT_TRUE(slide_.appears("cut/metrics.jsonl"));
  char bytes[4096];
  for (int i = 0; i < 5; ++i) EXPECT_GT(read(terminal, bytes, sizeof bytes), 0);  // while the program writes
  close(terminal);
  kill(child, SIGHUP);  // the shell sends it once more
  EXPECT_EQ(wait_for(child), 128 + SIGHUP);
  EXPECT_TRUE(fs::exists(slide_.path("cut/checkpoint.slide")));
  EXPECT_FALSE(fs::exists(slide_.path("cut/model.slide")));
}

TEST_F(OutputTest, HangingUpIsAStopAndResumesToTheSameModel) {
  ASSERT_EQ(slide_.run(training("whole", "400")).code, 0);
  const auto silent = [] { dup2(open("/dev/null", O_WRONLY), 1), send_errors_to("child-err"); };
  const pid_t child = slide_.start(training("cut", "400"), silent);
  ASSERT_TRUE(slide_.appears("cut/metrics.jsonl"));
  for (int i = 0; i < 3; ++i) kill(child, SIGHUP);
  ASSERT_EQ(wait_for(child), 128 + SIGHUP);
  EXPECT_TRUE(contains(errors(), "slide: stopped by SIGHUP after step"));
  ASSERT_EQ(slide_.run({"train", "--resume", "cut"}).code, 0);
  EXPECT_TRUE(read_file(slide_.path("whole/model.slide")) == read_file(slide_.path("cut/model.slide")));
  // Ignored under nohup.
  const pid_t deaf = slide_.start(training("deaf", "400"), [&] { silent(), signal(SIGHUP, SIG_IGN); });
  ASSERT_TRUE(slide_.appears("deaf/metrics.jsonl"));
  kill(deaf, SIGHUP);
  EXPECT_EQ(wait_for(deaf), 0);
}

}  // namespace
}  // namespace slide::test

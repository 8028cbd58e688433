// Tests of killed and stopped runs: their files, and their resumption.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <random>
#include <sstream>
#include <thread>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

const std::string kLongConfig =
    small_config({.train = "epochs = 40\nbatch_size = 32\nblock_size = 16\ncheckpoint_every = 7\n",
                  .hidden = "size = 32\ndropout = 0.1\n",
                  .wide = true,
                  .rehash = "rehash_steps = 5\nrebuild_steps = 40\ninterval_growth = 1.1\n"});

class ResumeTest : public CliTest {
 protected:
  void SetUp() override {
    write_file(slide_.path("small.toml"), kLongConfig);
    ASSERT_EQ(slide_
                  .run({"generate", "--samples", "900", "--features", "300", "--labels", "90", "--seed", "3",
                        "--out", "data"})
                  .code,
              0);
  }

  std::vector<std::string> fresh(const std::string& out, std::vector<std::string> more = {}) const {
    return Strings{"train",     "small.toml",
                   "--set",     "data.train=data/train.txt",
                   "--set",     "data.test=data/test.txt",
                   "--threads", "1",
                   "--out",     out} +
           more;
  }

  pid_t start(const std::vector<std::string>& arguments) const {
    return slide_.start(arguments, [] {
      dup2(open("child-out", O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
      dup2(open("child-err", O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
    });
  }
  // Starts a run and stops it with `signal` after its first checkpoint, which child-err reports.
  int stopped(const std::string& out, int signal, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--set", "train.epochs=20000"});
    const pid_t child = start(fresh(out, more));
    EXPECT_TRUE(slide_.appears(out + "/metrics.jsonl"));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(child, signal);
    return wait_for(child);
  }

  Json events(const std::string& out) const {
    return without_timings(events_of(read_file(slide_.path(out + "/metrics.jsonl"))));
  }
};

TEST_F(ResumeTest, ACacheThatShrinksIsNamedAndTheCheckpointStays) {
  const pid_t child = start(fresh("out", {"--set", "train.epochs=100000", "--set", "data.cache=true"}));
  ASSERT_TRUE(slide_.appears("out/checkpoint.slide"));
  fs::resize_file(slide_.path("data/train.txt.slidecache"), 0);
  EXPECT_EQ(wait_for(child), 1);
  const std::string message = read_file(slide_.path("child-err"));
  EXPECT_TRUE(contains(message, "data/train.txt.slidecache: it was cut off"));
  EXPECT_TRUE(message.starts_with("slide: ")) << message;
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
  const std::string checkpoint = slide_.path("out/checkpoint.slide");
  const fs::file_time_type before = fs::last_write_time(checkpoint);
  const pid_t resumed = start({"train", "--resume", "out"});
  EXPECT_TRUE(wait_until([&] { return fs::last_write_time(checkpoint) != before; }));
  kill(resumed, SIGTERM);
  EXPECT_EQ(wait_for(resumed), 143) << read_file(slide_.path("child-err"));
}

TEST_F(ResumeTest, OneProcessAtATimeTrainsIntoAFolder) {
  const pid_t child = start(fresh("out", {"--set", "train.epochs=100000"}));
  ASSERT_TRUE(slide_.appears("out/checkpoint.slide"));
  const std::string config = read_file(slide_.path("out/config.toml"));
  for (const auto& arguments :
       {fresh("out", {"--seed", "9"}), std::vector<std::string>{"train", "--resume", "out"}}) {
    const Outcome second = slide_.run(arguments);
    EXPECT_EQ(second.code, 2);
    EXPECT_EQ(second.err,
              "slide: out: another process trains into this folder; wait for it, or give another --out\n");
  }
  EXPECT_EQ(read_file(slide_.path("out/config.toml")), config);
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), 128 + SIGKILL);
  EXPECT_EQ(slide_.run(fresh("out", {"--force"})).code, 0);  // the lock ended with the process
}

TEST_F(ResumeTest, KilledAtAnyMomentTheRunEndsAsIfNothingHadHappened) {
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(slide_.run(fresh("whole")).code, 0);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::mt19937 random(5);
  std::uniform_real_distribution<double> moment(0.1, 0.6);
  int kills = 0;
  for (int i = 0; i < 6; ++i) {
    const bool first = !fs::exists(slide_.path("cut/config.toml"));
    const pid_t child = start(first ? fresh("cut") : std::vector<std::string>{"train", "--resume", "cut"});
    std::this_thread::sleep_for(std::chrono::duration<double>(moment(random) * seconds));
    kill(child, SIGKILL);
    const int code = wait_for(child);
    ASSERT_TRUE(code == 0 || code == 128 + SIGKILL) << code << read_file(slide_.path("child-err"));
    kills += code == 0 ? 0 : 1;
    if (code == 0 && kills > 0) break;
    if (code == 0) {  // the whole run was slowed down by other programs, this one was not
      fs::remove_all(slide_.path("cut"));
      seconds /= 4;
    }
  }
  EXPECT_GT(kills, 0);
  expect_done(slide_.run({"train", "--resume", "cut"}));
  EXPECT_TRUE(read_file(slide_.path("whole/model.slide")) == read_file(slide_.path("cut/model.slide")));
  EXPECT_EQ(events("whole"), events("cut"));
  no_temporaries("cut");
}

TEST_F(ResumeTest, SignalsSaveAndSayHowToResume) {
  ASSERT_EQ(slide_.run(fresh("whole")).code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string out = signal == SIGINT ? "int" : "term";
    const pid_t child = start(fresh(out, {"--set", "train.checkpoint_every=0"}));
    ASSERT_TRUE(slide_.appears(out + "/metrics.jsonl"));
    kill(child, signal);
    EXPECT_EQ(wait_for(child), 128 + signal);
    const std::string said = read_file(slide_.path("child-err"));
    EXPECT_TRUE(contains(said, "go on with: slide train --resume " + out + "\n"));
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
    EXPECT_TRUE(fs::exists(slide_.path(out + "/checkpoint.slide")));
    EXPECT_FALSE(fs::exists(slide_.path(out + "/model.slide")));
    const Outcome done = expect_done(slide_.run({"train", "--resume", out, "--threads", "2"}));
    EXPECT_TRUE(contains(done.out, "going on after step"));
    EXPECT_EQ(events("whole"), events(out));
    EXPECT_FALSE(fs::exists(slide_.path(out + "/checkpoint.slide")));
  }
}

TEST_F(ResumeTest, SeveralFilesAndAValidationFileResume) {
  std::istringstream lines(read_file(slide_.path("data/train.txt")));
  std::string line, first = "400 300 90\n", second = "500 300 90\n";
  std::getline(lines, line);  // the header
  for (int i = 0; std::getline(lines, line); ++i) (i < 400 ? first : second) += line + '\n';
  write_file(slide_.path("first.txt"), first);
  write_file(slide_.path("second.txt"), second);
  const auto arguments = [&](const std::string& out) {
    return fresh(out, {"--set", R"(data.train=["first.txt", "second.txt"])", "--set",
                       "data.validation=data/test.txt"});
  };
  ASSERT_EQ(slide_.run(arguments("whole")).code, 0);
  const pid_t child = start(arguments("cut"));
  ASSERT_TRUE(slide_.appears("cut/metrics.jsonl"));
  kill(child, SIGINT);
  ASSERT_EQ(wait_for(child), 130) << read_file(slide_.path("child-err"));
  const Outcome done = expect_done(slide_.run({"train", "--resume", "cut", "--threads", "2"}));
  EXPECT_TRUE(contains(done.out, "going on after step"));
  EXPECT_EQ(events("whole"), events("cut"));
  EXPECT_TRUE(read_file(slide_.path("whole/model.slide")) == read_file(slide_.path("cut/model.slide")));
  EXPECT_TRUE(read_file(slide_.path("whole/best-model.slide")) ==
              read_file(slide_.path("cut/best-model.slide")));
}

TEST_F(ResumeTest, ACompleteRunHasNothingLeft) {
  ASSERT_EQ(slide_.run(fresh("out")).code, 0);
  const std::string model = read_file(slide_.path("out/model.slide"));
  const Json environment = Json::parse(read_file(slide_.path("out/environment.json")));
  for (const char* key : {"version", "compiler", "instruction_set", "threads"})
    EXPECT_TRUE(environment.contains(key));
  const Outcome again = expect_done(slide_.run({"train", "--resume", "out"}));
  EXPECT_TRUE(contains(again.out, "is complete"));
  EXPECT_TRUE(read_file(slide_.path("out/model.slide")) == model);
}

TEST_F(ResumeTest, ImpossibleContinuationsAreRefusedInOneLine) {
  ASSERT_EQ(stopped("out", SIGINT), 130);
  const std::string config = read_file(slide_.path("out/config.toml"));
  const std::string checkpoint = read_file(slide_.path("out/checkpoint.slide"));
  const std::vector<std::string> resume = {"train", "--resume", "out"};

  std::string changed = config;
  changed.replace(changed.find("epochs = 20000"), 14, "epochs = 20001");
  write_file(slide_.path("out/config.toml"), changed);
  expect_refused(slide_.run(resume), "'train.epochs' is 20001, but the run began with 20000");
  write_file(slide_.path("out/config.toml"), config);

  const std::string data = read_file(slide_.path("data/train.txt"));
  write_file(slide_.path("data/train.txt"), data.substr(0, data.size() - 3) + "17\n");
  expect_refused(slide_.run(resume), "the data are not those of the run");
  write_file(slide_.path("data/train.txt"), data);

  write_file(slide_.path("out/checkpoint.slide"), checkpoint.substr(0, checkpoint.size() / 2));
  expect_refused(slide_.run(resume), "checkpoint.slide");
  write_file(slide_.path("out/checkpoint.slide"), checkpoint);

  expect_refused(slide_.run({"train", "--resume", "nowhere"}), "no config.toml");
  expect_refused(slide_.run({"train"}), "CONFIG or --resume");
  expect_refused(slide_.run({"train", "small.toml", "--resume", "out"}), "--resume");
  expect_refused(slide_.run({"train", "--resume", "out", "--set", "train.epochs=3"}), "--set");
  EXPECT_TRUE(read_file(slide_.path("out/checkpoint.slide")) == checkpoint);
}

TEST_F(ResumeTest, ValidationKeepsTheBestModelAndStopsEarly) {
  const std::vector<std::string> more = {"--set", "data.validation=0.2", "--set", "train.patience=3",
                                         "--set", "train.epochs=100"};
  const Outcome whole = expect_done(slide_.run(fresh("whole", more)));
  EXPECT_TRUE(contains(whole.out, "180 samples are held out for validation, 720 are left"));
  EXPECT_TRUE(contains(whole.out, "stopped early: 3 validations"));
  int validations = 0, best = 0, last_best = 0;
  for (const Json& event : events("whole")) {
    if (event["event"] != "validation") continue;
    ++validations;
    if (event["best"]) ++best, last_best = event["epoch"];
  }
  EXPECT_LT(validations, 100);
  EXPECT_GT(best, 0);
  EXPECT_EQ(validations, last_best + 3);
  expect_done(slide_.run({"test", "whole/best-model.slide", "data/test.txt", "--json"}));

  const pid_t child = start(fresh("cut", more));
  ASSERT_TRUE(slide_.appears("cut/checkpoint.slide"));
  kill(child, SIGKILL);
  wait_for(child);
  expect_done(slide_.run({"train", "--resume", "cut"}));
  EXPECT_EQ(events("whole"), events("cut"));
  EXPECT_TRUE(read_file(slide_.path("whole/model.slide")) == read_file(slide_.path("cut/model.slide")));
  EXPECT_TRUE(read_file(slide_.path("whole/best-model.slide")) ==
              read_file(slide_.path("cut/best-model.slide")));
}

TEST_F(ResumeTest, TheSameGroupsAreHeldOutAgain) {
  std::string groups;
  for (int i = 0; i < 900; ++i) groups += fmt::format("group {}\n", i * 7919 % 97);
  write_file(slide_.path("groups.txt"), groups);
  const std::vector<std::string> more = {"--set", "data.validation=0.2",  "--set", "data.group=groups.txt",
                                         "--set", "data.time=groups.txt", "--set", "train.epochs=100"};
  const Outcome whole = expect_done(slide_.run(fresh("whole", more)));
  const pid_t child = start(fresh("cut", more));
  ASSERT_TRUE(slide_.appears("cut/checkpoint.slide"));
  kill(child, SIGKILL);
  wait_for(child);
  write_file(slide_.path("groups.txt"), groups.substr(groups.find('\n') + 1) + "group 1\n");
  expect_refused(slide_.run({"train", "--resume", "cut"}), "the data are not those of the run");
  write_file(slide_.path("groups.txt"), groups);
  const Outcome resumed = expect_done(slide_.run({"train", "--resume", "cut"}));
  EXPECT_TRUE(contains(resumed.out, "(the latest groups) are held out"));
  EXPECT_EQ(events("whole"), events("cut"));
  EXPECT_TRUE(read_file(slide_.path("whole/best-model.slide")) ==
              read_file(slide_.path("cut/best-model.slide")));
}

TEST_F(ResumeTest, PatienceNeedsValidation) {
  expect_refused(slide_.run(fresh("out", {"--set", "train.patience=3"})), "data.validation");
}

TEST_F(ResumeTest, QuietPrintsFailuresOnly) {
  const Outcome done = expect_done(slide_.run(fresh("out", {"--quiet", "--set", "train.epochs=1"})));
  EXPECT_EQ(done.out + done.err, "");
  expect_refused(slide_.run(fresh("out", {"--quiet", "--set", "train.epochs=0"})), "train.epochs");
}

TEST_F(ResumeTest, StatusLineOnTerminalsOnly) {
  const Outcome piped = slide_.run(fresh("out"));
  EXPECT_EQ(piped.out.find('\r'), std::string::npos);
  const int screen = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(screen, 0);
  ASSERT_EQ(grantpt(screen) | unlockpt(screen), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(slide_.folder().c_str()) != 0) _exit(99);
    dup2(open(ptsname(screen), O_RDWR | O_NOCTTY), 1);
    execl(SLIDE_BINARY, SLIDE_BINARY, "train", "small.toml", "--set", "data.train=data/train.txt", "--out",
          "tty", nullptr);
    _exit(98);
  }
  const int keep = open(ptsname(screen), O_RDWR | O_NOCTTY);  // otherwise reading ends with the first writer
  fcntl(screen, F_SETFL, O_NONBLOCK);
  std::string shown;
  int status = 0;
  for (bool ended = false; !ended;) {
    ended = waitpid(child, &status, WNOHANG) == child;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(screen, buffer, sizeof buffer)) > 0;) shown.append(buffer, std::size_t(n));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  close(keep);
  close(screen);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(contains(shown, "\r\033[Kepoch 1/40  "));
  EXPECT_TRUE(contains(shown, " left"));
}

TEST_F(ResumeTest, ANewRunReplacesAStoppedOneOnlyWhereForced) {
  ASSERT_EQ(stopped("out", SIGTERM), 143);
  const std::string checkpoint = read_file(slide_.path("out/checkpoint.slide"));
  ASSERT_FALSE(checkpoint.empty());
  expect_refused(slide_.run(fresh("out", {"--set", "train.epochs=1"})),
                 "out: a stopped run is here; go on with it by --resume out, give another --out, or --force");
  EXPECT_TRUE(read_file(slide_.path("out/checkpoint.slide")) == checkpoint);
  ASSERT_EQ(slide_.run(fresh("out", {"--set", "train.epochs=1", "--force"})).code, 0);
  EXPECT_FALSE(fs::exists(slide_.path("out/checkpoint.slide")));
  EXPECT_EQ(events("out").size(), 4U);  // start, epoch, tables, eval
}

TEST_F(ResumeTest, RunsThatCannotResumeAreReplaced) {
  ASSERT_EQ(stopped("out", SIGTERM), 143);
  fs::copy(slide_.path("out"), slide_.path("bare"));
  fs::remove(slide_.path("out/checkpoint.slide"));
  EXPECT_EQ(slide_.run(fresh("out", {"--set", "train.epochs=1"})).code, 0);
  fs::remove(slide_.path("bare/config.toml"));  // as if killed while another run began there
  EXPECT_EQ(slide_.run(fresh("bare", {"--set", "train.epochs=1"})).code, 0);
}

}  // namespace
}  // namespace slide::test

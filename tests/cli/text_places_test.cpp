// Tests of what stands where a small text should, a configuration, a run's log or facts: no command waits for
// it or reads it without end.
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

class TextPlacesTest : public CliTest {
 protected:
  void refused(const Commands& commands) { expect_refused_together(commands, 60); }
  // Commands that read `text` as a configuration or as the log of a run.
  static Commands readers_of(const std::string& text) {
    return {{"train", "data/train.txt", "--config", text, "--out", "run"},
            {"train", "--config", text, "--set", "data.train=data/train.txt", "--out", "run"},
            {"tune", "data/train.txt", "--config", text, "--out", "tuned.toml"},
            {"inspect", "--config", text},
            {"report", text, "--out", "report.html"}};
  }
  void make_sparse(const std::string& name) {
    write_file(slide_.path(name), "");
    fs::resize_file(slide_.path(name), std::uintmax_t{1} << 40);
  }
};

TEST_F(TextPlacesTest, DevicesAndTextsWithoutAnEndAreRefused) {
  generate();
  make_sparse("sparse");
  for (const char* text : {"/dev/zero", "/dev/urandom", "sparse", "data"}) refused(readers_of(text));
  EXPECT_FALSE(exists("report.html") || exists("tuned.toml") || exists("run/model.slide"));
}

TEST_F(TextPlacesTest, PipesWithoutAWriterAreRefused) {
  generate();
  ASSERT_EQ(mkfifo(slide_.path("pipe").c_str(), 0600), 0);
  refused(readers_of("pipe"));
}

// Each of a run's files in turn is a pipe, or of 1 TiB.
TEST_F(TextPlacesTest, InTheFolderOfARunTheyAreRefused) {
  train_model();
  fs::remove(slide_.path("out/model.slide"));
  Commands commands;
  for (const std::string name : {"metrics.jsonl", "environment.json", "config.toml"}) {
    for (const bool pipe : {false, true}) {
      const std::string folder = fmt::format("{}-{}", name, pipe);
      fs::copy(slide_.path("out"), slide_.path(folder));
      fs::remove(slide_.path(folder + "/" + name));
      if (pipe) {
        ASSERT_EQ(mkfifo(slide_.path(folder + "/" + name).c_str(), 0600), 0);
      } else {
        make_sparse(folder + "/" + name);
      }
      if (name != "config.toml") commands.push_back({"report", folder, "--out", "report.html"});
      if (name == "metrics.jsonl") continue;
      commands.push_back({"train", "small.toml", "--set", "data.train=data/train.txt", "--out", folder});
    }
  }
  refused(commands);
}

TEST_F(TextPlacesTest, AReportTellsOfSettingsThatItCannotRead) {
  train_model();
  make_sparse("out/config.toml");
  const Outcome outcome = expect_done(slide_.run({"report", "out", "--out", "report.html"}));
  EXPECT_TRUE(contains((outcome.out + outcome.err), "not compared")) << outcome.out;
}

TEST_F(TextPlacesTest, ARunWithSuchAConfigurationDoesNotResume) {
  train_model();
  fs::remove(slide_.path("out/model.slide"));
  make_sparse("out/config.toml");
  refused({{"train", "--resume", "out"}});
}

TEST_F(TextPlacesTest, StandardInputWithoutAnEndIsRefused) {
  train_model();
  fs::remove(slide_.path("stdin"));
  fs::create_symlink("/dev/zero", slide_.path("stdin"));
  for (const char* command : {"predict", "test", "similar"}) {
    expect_refused(slide_.run({command, "out", "-"}), "standard input: this is a device");
  }
  fs::remove(slide_.path("stdin"));
  expect_refused(slide_.run_behind("head -c 3000000 /dev/zero", {"similar", "out", "-"}),
                 "has more than 1 MB");
}

TEST_F(TextPlacesTest, AConfigurationFromAPipeIsReadOnce) {
  std::string log;
  for (int user = 0; user < 60; ++user)
    for (int item = 0; item < 5; ++item) log += fmt::format("{},i{}\n", user, (user * 3 + item * item) % 20);
  write_file(slide_.path("log.csv"), "user,item\n" + log);
  write_file(slide_.path("few.toml"), "[train]\nepochs = 1\nseed = 7\nthreads = 1\n");
  ASSERT_EQ(mkfifo(slide_.path("pipe").c_str(), 0600), 0);
  slide_.begin_with("{ cat few.toml > pipe & }");  // the data show that they are a log: read again as one
  const Outcome piped = slide_.run({"train", "log.csv", "--config", "pipe", "--out", "piped"});
  slide_.begin_with(":");
  ASSERT_EQ(piped.code, 0) << piped.err;
  ASSERT_EQ(slide_.run({"train", "log.csv", "--config", "few.toml", "--out", "named"}).code, 0);
  EXPECT_EQ(file("piped/config.toml"), file("named/config.toml"));
  EXPECT_TRUE(contains(file("piped/config.toml"), "seed = 7"));
}

}  // namespace
}  // namespace slide::test

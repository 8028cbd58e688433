// Outputs of commands replace neither their inputs, nor other outputs, nor pipes and devices.
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;
class OutputFilesTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    train_model();
    write_file(slide_.path("t.tsv"), "music\tThe cello\nbirds\tsinging birds\n");
    write_file(slide_.path("bad.txt"), "1 3:1\n1 3:x\n1 4:1\n");
    ASSERT_EQ(slide_.run({"convert", "data/test.txt", "X.t.npz"}).code, 0);
    write_file(slide_.path("scores.txt"), slide_.run({"predict", "out", "data/test.txt"}).out);
  }
  // Expects a refusal with one such line, and an unchanged file.
  void expect_refused(const std::string& kept, const std::string& part, const Strings& arguments) {
    const std::string before = file(kept);
    test::expect_refused(slide_.run(arguments), part);
    EXPECT_EQ(file(kept), before) << kept;
  }
  void expect_read(const std::string& kept, const Strings& arguments) {
    expect_refused(kept, "one of the files that are read", arguments);
  }
};

TEST_F(OutputFilesTest, WhatIsReadIsNotReplaced) {
  fs::create_symlink("out/model.slide", slide_.folder() / "link");
  fs::create_hard_link(slide_.folder() / "data/test.txt", slide_.folder() / "same.txt");
  expect_read("out/model.slide", {"vectors", "out", "--out", "out/model.slide"});
  expect_read("out/model.slide", {"vectors", "out", "--out", "v.txt", "--names", "link"});
  expect_read("out/model.slide", {"vectors", "out/model.slide", "--out", "./out/../link"});
  expect_read("data/test.txt", {"vectors", "out", "data/test.txt", "--out", "same.txt"});
  expect_read("stdin", {"vectors", "out", "-", "--out", "stdin"});
  expect_read("out/config.toml", {"test", "out", "data/test.txt", "--per-label", "out/config.toml"});
  expect_read("out/model.slide", {"test", "out", "data/test.txt", "--per-label", "out/model.slide"});
  expect_read("data/test.txt", {"test", "out", "data/t*.txt", "--per-label", "data/test.txt"});
  expect_read("X.t.npz", {"predict", "out", "X.t.npz", "--out", "X.t.npz"});
  expect_read("Y.t.npz", {"predict", "out", "X.t.npz", "--out", "Y.t.npz"});
  expect_read("scores.txt", {"evaluate", "scores.txt", "data/test.txt", "--per-label", "scores.txt"});
  expect_read("data/test.txt", {"evaluate", "scores.txt", "data/test.txt", "--per-label", "data/test.txt"});
  expect_read("same.txt",
              {"evaluate", "scores.txt", "data/test.txt", "--train", "same.txt", "--per-label", "same.txt"});
  expect_read("data/train.txt", {"tune", "data/train.txt", "--trials", "1", "--out", "data/train.txt"});
  expect_refused(
      "data/train.txt", "exists and is no report",
      {"tune", "data/train.txt", "--trials", "1", "--out", "o.toml", "--report", "data/train.txt"});
  expect_read("small.toml", {"tune", "small.toml", "--set", "data.train=data/train.txt", "--trials", "1",
                             "--out", "small.toml"});
  expect_read("t.tsv", {"convert", "t.tsv", "o.svm", "--label-names", "t.tsv"});
  expect_read("bad.txt", {"convert", "bad.txt", "bad.txt", "--skip-bad"});
  expect_read("Y.t.npz", {"convert", "X.t.npz", "o.svm", "--label-names", "Y.t.npz"});
  expect_read("data/test.txt",
              {"convert", "out", "data/test.txt", "--weights", "int8", "--test", "same.txt"});
  expect_read("out/model.slide", {"serve", "out", "--access-log", "out/model.slide"});
  EXPECT_FALSE(exists("o.svm"));
  EXPECT_FALSE(exists("o.toml"));
}

TEST_F(OutputFilesTest, TwoOutputsAreTwoFiles) {
  write_file(slide_.path("old"), "old");
  fs::create_symlink("old", slide_.folder() / "link");
  expect_refused("old", "--out and --names name one file",
                 {"vectors", "out", "--out", "old", "--names", "link"});
  expect_refused("old", "--out and --names name one file",
                 {"vectors", "out", "--out", "new", "--names", slide_.path("new")});
  expect_refused("t.tsv", "--label-names and --feature-names name one file",
                 {"convert", "t.tsv", "o.svm", "--label-names", "n", "--feature-names", "./n"});
  expect_refused("t.tsv", "OUT and --label-names name one file",
                 {"convert", "t.tsv", "X.o.npz", "--set", "text.min_count=1", "--label-names", "Y.o.npz"});
  expect_refused("t.tsv", "name one file",
                 {"tune", "data/train.txt", "--trials", "1", "--out", "o.toml", "--report", "./o.toml"});
  EXPECT_FALSE(exists("new"));
}

TEST_F(OutputFilesTest, OtherFilesAreReplaced) {
  write_file(slide_.path("out/vectors.txt"), "old");
  fs::create_symlink("out/vectors.txt", slide_.folder() / "link");
  EXPECT_EQ(slide_.run({"vectors", "out", "--out", "link"}).code, 0);
  EXPECT_TRUE(fs::is_symlink(slide_.folder() / "link"));
  EXPECT_EQ(file("out/vectors.txt"), slide_.run({"vectors", "out"}).out);
}

TEST_F(OutputFilesTest, PipesAreWrittenToOrRefused) {
  ASSERT_EQ(mkfifo(slide_.path("pipe").c_str(), 0600), 0);
  slide_.begin_with("{ cat pipe > read & }");
  ASSERT_EQ(slide_.run({"vectors", "out", "--out", "pipe"}).code, 0);
  slide_.begin_with(":");
  const std::string vectors = slide_.run({"vectors", "out"}).out;
  EXPECT_TRUE(wait_until([&] { return file("read") == vectors; }));
  slide_.begin_with("{ cat pipe > read & }");
  ASSERT_EQ(slide_.run({"convert", "data/test.txt", "pipe", "--to", "libsvm"}).code, 0);
  slide_.begin_with(":");
  ASSERT_EQ(slide_.run({"convert", "data/test.txt", "file.svm"}).code, 0);
  EXPECT_TRUE(wait_until([&] { return file("read") == file("file.svm"); }));
  for (const char* name : {"pipe.npy", "X.p.npz"}) fs::create_symlink("pipe", slide_.folder() / name);
  expect_refused("small.toml", "this is a pipe or a device", {"vectors", "out", "--out", "pipe.npy"});
  expect_refused("small.toml", "this is a pipe or a device", {"convert", "data/test.txt", "X.p.npz"});
  expect_refused("small.toml", "this is a pipe or a device", {"convert", "out", "pipe", "--drop-optimizer"});
  expect_refused("small.toml", "this is a pipe or a device", {"average", "out", "out", "--out", "pipe"});
  EXPECT_TRUE(fs::is_fifo(slide_.folder() / "pipe"));
}

// A device created by the test that accepts all writes.
TEST_F(OutputFilesTest, DevicesStayDevices) {
  const std::string null = slide_.path("null");
  if (mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0 || !std::ofstream(null))
    GTEST_SKIP() << "no devices can be made here";
  const Strings commands[] = {
      {"test", "out", "data/test.txt", "--per-label", "null"},
      {"evaluate", "scores.txt", "data/test.txt", "--per-label", "null"},
      {"vectors", "out", "--out", "null", "--names", "null"},
      {"convert", "data/test.txt", "null", "--to", "xmc"},
      {"tune", "data/train.txt", "--trials", "1", "--minutes", "5", "--out", "null", "--report", "null"},
      {"report", "out", "--out", "null"}};
  for (const Strings& command : commands) {
    const Outcome outcome = slide_.run(command);
    EXPECT_EQ(outcome.code, 0) << command.front() << ": " << outcome.err;
    EXPECT_TRUE(fs::is_character_file(null)) << command.front();
  }
}

TEST_F(OutputFilesTest, AFolderThatDoesNotExistIsRefused) {
  const auto expect_none = [&](const std::string& name, Strings arguments) {
    arguments.push_back(name);
    test::expect_refused(slide_.run(arguments),
                         name + ": cannot be created, for the folder nodir does not exist");
  };
  for (const char* option : {"--curve", "--save-thresholds", "--per-label", "--report"})
    expect_none("nodir/x", {"evaluate", "scores.txt", "data/test.txt", option});
  expect_none("nodir/x.tsv", {"test", "out", "data/test.txt", "--per-label"});
  expect_none("nodir/x.npz", {"predict", "out", "data/test.txt", "--out"});
  expect_none("nodir/x.npy", {"vectors", "out", "--out"});
  expect_none("nodir/m.slide", {"convert", "out", "--drop-optimizer"});
  expect_none("nodir/d.xmc", {"convert", "data/test.txt"});
  expect_none("nodir/m.slide", {"average", "out", "out", "--out"});
  expect_none("nodir/r.html", {"report", "out", "--out"});
  EXPECT_EQ(slide_.run({"generate", "--out", "new/folder", "--samples", "20"}).code, 0) << "which it makes";
}

}  // namespace
}  // namespace slide::test

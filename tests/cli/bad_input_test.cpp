// Tests of errors: one line on standard error, and exit code 1 or 2.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace slide::test {
namespace {

constexpr const char* kConfig =
    "[train]\nbatch_size = 16\nblock_size = 16\nepochs = 1\n[loss]\nkind = \"softmax\"\n"
    "[neighbours]\nshare = 0\n[[layer]]\nsize = 4\n[[layer]]\nkind = \"dense\"\nwide = false\n";
constexpr const char* kData = "3 5 4\n0 0:1 1:2\n1,2 3:1\n0,3 4:0.5\n";

class BadInputTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file(slide_.path("c.toml"), kConfig);
    write_file(slide_.path("d.txt"), kData);
  }

  // Runs the program; expects exit code `code` and one line that contains `part`.
  void expect(int code, const std::string& part, const std::vector<std::string>& arguments,
              const std::string& redirect = "") {
    SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
    expect_refused(slide_.run(arguments, "", redirect), part, code);
  }
  void expect_bad_data(const std::string& text, const std::string& part, const std::string& format = "auto") {
    write_file(slide_.path("bad.txt"), text);
    expect(2, part, {"train", "c.toml", "--set", "data.train=bad.txt", "--set", "data.format=" + format});
  }
  void expect_bad_config(const std::string& text, const std::string& part) {
    write_file(slide_.path("bad.toml"), text);
    expect(2, part, {"train", "bad.toml", "--set", "data.train=d.txt"});
  }
  std::vector<std::string> train(std::vector<std::string> more) const {
    return Strings{"train", "c.toml", "--set", "data.train=d.txt", "--out", "out", "--force"} + more;
  }

  Program slide_;
};

TEST_F(BadInputTest, Usage) {
  expect(2, "unknown command 'fly'", {"fly"});
  expect(2, "DATA, CONFIG or --resume", {"train"});
  expect(2, "--fast", train({"--fast"}));
  expect(2, "--out: --force is an option", {"train", "d.txt", "--out", "--force"});
  expect(2, "DATA", {"test", "m"});
  expect(2, "--k", {"test", "m", "d", "--k", "0"});
  expect(2, "--k", {"test", "m", "d", "--k", "1,x"});
  expect(2, "--k: '' is no whole number", {"test", "m", "d", "--k", "1,,3"});
  expect(2, "--weights: '' is no number", {"evaluate", "s", "d", "--weights", "1,,3"});
  expect(2, "--inference", {"predict", "m", "d", "--inference", "fast"});
  expect(2, "--threads", train({"--threads", "-1"}));
  expect(2, "--samples", {"generate", "--samples", "-5", "--out", "g"});
  expect(2, "--labels", {"generate", "--labels", "0", "--out", "g"});
  expect(2, "--out", {"generate"});
  expect(2, "--doc", {"config"});
}

TEST_F(BadInputTest, Configuration) {
  expect(2, "data.train is not set: give --set data.train=FILE", {"train", "c.toml"});
  expect(2, "none.toml", {"train", "none.toml"});
  expect_bad_config("[train]\nepoch = 3\n[[layer]]\n", "bad.toml:2");
  expect_bad_config("[train]\nepoch = 3\n[[layer]]\n", "train.epochs");
  expect_bad_config("[train]\nepochs = \"many\"\n[[layer]]\n", "train.epochs");
  expect_bad_config("[train]\nepochs = 0\n[[layer]]\n", "train.epochs");
  expect_bad_config("[train\n", "bad.toml:1");
  expect_bad_config("layer = []\n", "[[layer]]");
  expect_bad_config("[[layer]]\nkind = \"sampled\"\n[layer.hash]\nk = 9\nrange_pow = 8\n", "range_pow");
  expect(2, "did you mean 'train.epochs'", train({"--set", "train.epoch=3"}));
  expect(2, "'train.epochs' gives no value", train({"--set", "train.epochs", "3"}));
  expect(2, "test data as --test FILE", {"train", "d.txt", "d.txt"});
  expect(2, "train.seed", train({"--set", "train.seed=often"}));
  expect(2, "size to 0", train({"--set", "layer.1.size=2"}));
  expect(2, "data.train_first", train({"--set", "data.train_first=9"}));
}

TEST_F(BadInputTest, DataFiles) {
  expect(2, "none.txt: no such file", {"train", "c.toml", "--set", "data.train=none.txt"});
  expect(2, "none.txt: no such file", train({"--set", "data.test=none.txt"}));
  expect(2, "none.txt: no such file",
         {"tune", "c.toml", "--set", "data.train=data/train.txt", "data.test=none.txt", "--out", "t.toml"});
  expect_bad_data("", "bad.txt:1:1");
  expect_bad_data("hello\n", "bad.txt:1:1");
  expect_bad_data("2 5 4\n0 0:1\n0 1:nan\n", "bad.txt:3:5");
  expect_bad_data("2 5 4\n0 0:inf\n0 1:1\n", "bad.txt:2:5");
  expect_bad_data("2 5 4\n0 0:1\n0 -1:1\n", "bad.txt:3:3");
  expect_bad_data("2 5 4\n0 0:1\n0 5:1\n", "bad.txt:3:3: feature 5");
  expect_bad_data("2 5 4\n0 0:1\n4 1:1\n", "bad.txt:3:1: label 4");
  expect_bad_data("2 5 4\n0 0:1\n-2 1:1\n", "bad.txt:3:1");
  expect_bad_data("3 5 4\n0 0:1\n0 1:1\n", "bad.txt:4:1: the file ends after 2 samples");
  expect_bad_data("1 5 4\n0 0:1\n0 1:1\n", "bad.txt:3:1: the header says 1");
  expect_bad_data("2 5 4\n0 0:1\n0 1:", "bad.txt:3:5");
  expect_bad_data("0 0:1\n", "bad.txt:1", "xmc");
  expect_bad_data("0 0:1\nx 1:1\n", "bad.txt:2:1", "libsvm");
  expect_bad_data("0 0:1\n", "bad.txt", "idx");
}

// Common mistakes of new users: the message names the format of the file.
TEST_F(BadInputTest, FilesOfOtherKinds) {
  expect_bad_data("[{\"text\": \"a: b\", \"labels\": [\"x\"]}]\n", "bad.txt:1:1: this is a JSON array");
  expect_bad_data("{\"text\": \"a: b\"}\n{\"text\": \"c\"}\n", "a table with the columns text, name those");
  expect_bad_data("PK\x03\x04 words.txt", "bad.txt:1:1: this is a zip archive, but no .npz file; unpack it");
  expect_bad_data("SLIDEMDL....", "this is a model of slide, no data");
  expect_bad_data(std::string("\xfd") + "7zXZ" + std::string(9, '\0'), "packed by xz");
  expect_bad_data("BZh91AY&SY....", "bad.txt:1:1: this is packed by bzip2; unpack it, or pack it by gzip");
  expect_bad_data(std::string("\xff\xfe") + "a\0b" + std::string(1, '\0'), "UTF-16");
  expect_bad_data(std::string("ab\0cd", 5), "binary data");
  expect_bad_data("text,label\nhello,x\n", "a table with the columns text, label, name those");
}

TEST_F(BadInputTest, TextForAModelOfFeatures) {
  ASSERT_EQ(slide_.run(train({})).code, 0);
  write_file(slide_.path("plain.txt"), "some words\n");
  write_file(slide_.path("text.tsv"), "a\tsome words\n");
  write_file(slide_.path("rows.json"), "{\"a\": 1}\n");
  expect(2, "the model was trained on features", {"predict", "out", "plain.txt"});
  for (const char* command : {"predict", "test"}) {
    expect(2, "the model was trained on features, not on text", {command, "out", "text.tsv"});
    expect(2, "d.txt: this is no slide model; the model comes first", {command, "d.txt", "out"});
  }
  expect(2, "rows.json:1:1: this is JSON", {"predict", "out", "rows.json"});
  expect(2, "rows.json:1:1: the format is not clear; if this is a table with the columns a, name those",
         {"test", "out", "rows.json"});
}

TEST_F(BadInputTest, MarksAndLineEndsOfWindowsAreNoFault) {
  write_file(slide_.path("windows.txt"),
             "\xef\xbb\xbf"
             "3 5 4\r\n0 0:1 1:2\r\n1,2 3:1\r\n0,3 4:0.5\r\n");
  ASSERT_EQ(slide_.run(train({})).code, 0);
  const std::string model = read_file(slide_.path("out/model.slide"));
  for (const char* command : {"predict", "test"}) {
    expect_done(slide_.run({command, "out", "windows.txt", "--k", "1"}));
  }
  EXPECT_EQ(slide_.run({"predict", "out", "windows.txt"}).out, slide_.run({"predict", "out", "d.txt"}).out);
  EXPECT_EQ(slide_.run({"convert", "windows.txt", "w.xmc"}).code, 0);
  EXPECT_EQ(slide_.run({"convert", "d.txt", "d.xmc"}).code, 0);
  EXPECT_EQ(read_file(slide_.path("w.xmc")), read_file(slide_.path("d.xmc")));
}

TEST_F(BadInputTest, DataFromAPipe) {
  const std::vector<std::string> text = {"train", "/dev/stdin", "--out", "piped"};
  write_file(slide_.path("text.tsv"), "a\tsome words\nb\tsome more\n");
  expect_refused(slide_.run_behind("cat text.tsv", text), "training reads text twice");
  expect_done(slide_.run_behind("cat d.txt",
                                {"train", "c.toml", "--set", "data.train=/dev/stdin", "--out", "piped"}));
}

TEST_F(BadInputTest, Models) {
  ASSERT_EQ(slide_.run(train({})).code, 0);
  const std::string model = read_file(slide_.path("out/model.slide"));
  expect(2, "no such model", {"test", "none.slide", "d.txt"});
  expect(2, "no slide model", {"test", "d.txt", "d.txt"});
  write_file(slide_.path("bad.slide"), model.substr(0, model.size() - 5));
  expect(2, "cut off", {"test", "bad.slide", "d.txt"});
  std::string damaged = model;
  damaged[model.size() / 2] ^= 4;
  write_file(slide_.path("bad.slide"), damaged);
  expect(2, "checksum", {"predict", "bad.slide", "d.txt"});
  expect(2, "checksum", {"inspect", "bad.slide"});
  write_file(slide_.path("c.toml"), "[neighbours]\nshare = 0\n[[layer]]\nkind = \"dense\"\nwide = false\n");
  ASSERT_EQ(slide_.run(train({})).code, 0);
  write_file(slide_.path("same.txt"), read_file(slide_.path("d.txt")));
  expect(2, "lsh needs hash tables", {"test", "out/model.slide", "same.txt", "--inference", "lsh"});
}

// Refused before any input is read.
TEST_F(BadInputTest, FoldersThatCannotBe) {
  const auto refused = [&](int code, const std::string& part, const std::string& out) {
    expect(code, part, {"train", "c.toml", "--set", "data.train=d.txt", "--out", out});
    EXPECT_EQ(read_file(slide_.path("stdout")), "");
  };
  refused(2, "d.txt/sub/sub: d.txt is no folder; give another --out", "d.txt/sub/sub");
  refused(2, "d.txt: d.txt is no folder", "d.txt");
  std::filesystem::create_symlink("nowhere", slide_.path("link"));
  refused(2, "link/sub: link is no folder", "link/sub");
  expect(2, "none.txt", {"train", "c.toml", "--set", "data.train=none.txt", "--out", "made/sub"});
  EXPECT_FALSE(std::filesystem::exists(slide_.path("made")));
  if (geteuid() == 0) return;  // root may write everywhere
  std::filesystem::create_directory(slide_.path("locked"));
  std::filesystem::permissions(slide_.path("locked"), std::filesystem::perms::owner_read);
  refused(1, "locked/sub: the folder locked cannot be written (Permission denied)", "locked/sub");
}

TEST_F(BadInputTest, RunsThatFail) {
  expect(1, "standard output", train({}), "/dev/full");
  std::filesystem::create_directories(slide_.path("out"));
  std::filesystem::remove(slide_.path("out/metrics.jsonl"));
  std::filesystem::create_symlink("/dev/full", slide_.path("out/metrics.jsonl"));
  expect(1, "metrics.jsonl: cannot be written", train({}));
  EXPECT_FALSE(std::filesystem::exists(slide_.path("out/model.slide")));
}

TEST_F(BadInputTest, LossThatIsNoNumber) {
  std::string data = "40 5 4\n";
  for (int i = 0; i < 40; ++i) data += fmt::format("{} {}:1 4:1\n", i % 4, i % 4);
  write_file(slide_.path("d.txt"), data);
  expect(1, "optimizer.learning_rate",
         train({"--set", "train.epochs=30", "--set", "optimizer.kind=sgd", "--set",
                "optimizer.learning_rate=1000", "--set", "layer.0.activation=linear", "--set",
                "optimizer.schedule=constant"}));
}

}  // namespace
}  // namespace slide::test

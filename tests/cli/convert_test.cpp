// Tests of data conversion between formats, and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/program.h"

namespace slide::test {
namespace {

constexpr const char* kTable =
    "music,deep learning\tThe cello, the violin\nbirds\tsinging birds\n\tnothing\n";
constexpr const char* kFastText =
    "__label__music __label__deep_learning The cello, the violin\n__label__birds singing birds\n nothing\n";

class ConvertTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file(slide_.path("t.tsv"), kTable);
    write_file(slide_.path("d.txt"), "3 5 4\n0 1:2 0:1.5\n1,2 3:1\n 4:0.1\n");
  }
  void convert(const Strings& arguments) { expect_done(slide_.run(Strings{"convert"} + arguments)); }
  void expect_bad(int code, const std::string& part, const Strings& arguments) {
    expect_refused(slide_.run(Strings{"convert"} + arguments), part, code);
  }
  std::string file(const std::string& name) const { return read_file(slide_.path(name)); }

  Program slide_;
};

TEST_F(ConvertTest, TextIntoText) {
  convert({"t.tsv", "t.ft"});
  EXPECT_EQ(file("t.ft"), kFastText);
  convert({"t.ft", "back.tsv"});
  std::string expected = kTable;
  expected.replace(expected.find("deep learning"), 13, "deep_learning");
  EXPECT_EQ(file("back.tsv"), expected);
  convert({"t.ft", "copy", "--to", "fasttext"});
  EXPECT_EQ(file("copy"), kFastText);
}

TEST_F(ConvertTest, TextIntoFeaturesWithNames) {
  convert({"t.tsv", "t.xmc", "--set", "text.word_ngrams=1", "--set", "text.min_count=1", "--set",
           "text.weighting=counts", "--label-names", "labels", "--feature-names", "features"});
  const std::string names = file("features");
  EXPECT_EQ(std::count(names.begin(), names.end(), '\n'), 6) << names;
  EXPECT_EQ(file("labels"), "birds\ndeep learning\nmusic\n");
  EXPECT_EQ(file("t.xmc").substr(0, 10), "3 6 3\n1,2 ") << file("t.xmc");
}

TEST_F(ConvertTest, FeaturesThroughAllFormats) {
  const std::string xmc = "3 5 4\n0 0:1.5 1:2\n1,2 3:1\n 4:0.1\n";
  convert({"d.txt", "X.d.npz"});
  convert({"X.d.npz", "d.xmc"});
  EXPECT_EQ(file("d.xmc"), xmc);
  convert({"X.d.npz,Y.d.npz", "f.npz,l.npz"});
  convert({"f.npz,l.npz", "d.libsvm"});
  EXPECT_EQ(file("d.libsvm"), xmc.substr(6));
  convert({"d.libsvm", "again.xmc", "--features", "5", "--labels", "4"});
  EXPECT_EQ(file("again.xmc"), xmc);
  convert({"d.libsvm", "found.xmc"});
  EXPECT_EQ(file("found.xmc").substr(0, 6), "3 5 3\n");
  write_file(slide_.path("one.svm"), "0 1:1\n1 2:1\n");
  convert({"one.svm", "one.xmc", "--one-based"});
  EXPECT_EQ(file("one.xmc"), "2 2 2\n0 0:1\n1 1:1\n");
}

// Features alone, under any name, and with labels of other samples beside them.
TEST_F(ConvertTest, MatricesArePredictedWithoutLabels) {
  write_file(slide_.path("c.toml"),
             "[train]\nbatch_size = 16\nblock_size = 16\n[[layer]]\nsize = 4\n[[layer]]\nkind = \"dense\"\n");
  convert({"d.txt", "X.d.npz"});
  ASSERT_EQ(slide_.run({"train", "c.toml", "--set", "data.train=X.d.npz", "--out", "out"}).code, 0);
  const Outcome wanted = expect_done(slide_.run({"predict", "out", "X.d.npz,Y.d.npz"}));
  EXPECT_EQ(std::count(wanted.out.begin(), wanted.out.end(), '\n'), 3);
  std::filesystem::copy(slide_.path("X.d.npz"), slide_.path("X.alone.npz"));
  std::filesystem::copy(slide_.path("X.d.npz"), slide_.path("features.npz"));
  std::filesystem::copy(slide_.path("X.d.npz"), slide_.path("X.other.npz"));
  write_file(slide_.path("one.txt"), "1 5 4\n0 0:1\n");
  convert({"one.txt", "X.one.npz"});
  std::filesystem::copy(slide_.path("Y.one.npz"), slide_.path("Y.other.npz"));
  for (const char* name : {"X.d.npz", "X.alone.npz", "features.npz", "X.other.npz"}) {
    const Outcome found = expect_done(slide_.run({"predict", "out", name}));
    EXPECT_EQ(found.out, wanted.out) << name;
    EXPECT_EQ(slide_.run({"vectors", "out", name}).code, 0) << name;
  }
  expect_bad(2, "no such file", {"X.alone.npz", "again.xmc"});
}

TEST_F(ConvertTest, SamplesWithoutAnythingStay) {
  write_file(slide_.path("e.txt"), "3 2 2\n0 1:1\n\n1 0:1\n");
  convert({"e.txt", "e.libsvm"});
  convert({"e.libsvm", "e.xmc"});
  EXPECT_EQ(file("e.xmc").substr(0, 6), "3 2 2\n");
}

TEST_F(ConvertTest, FeaturesIntoText) {
  convert({"d.txt", "d.ft"});
  EXPECT_EQ(file("d.ft"), "__label__0 f0 f1 f1\n__label__1 __label__2 f3\n f4\n");
  convert({"d.txt", "d.tsv"});
  EXPECT_EQ(file("d.tsv"), "0\tf0 f1 f1\n1,2\tf3\n\tf4\n");
}

TEST_F(ConvertTest, VocabularyOfAModelOrAnotherText) {
  write_file(
      slide_.path("c.toml"),
      "[train]\nbatch_size = 16\nblock_size = 16\n[text]\nmin_count = 1\nhash_buckets = 7\n"
      "char_ngrams_max = 4\n[neighbours]\nshare = 0\n[[layer]]\nsize = 4\n[[layer]]\nkind = \"dense\"\n");
  ASSERT_EQ(slide_.run({"train", "c.toml", "--set", "data.train=t.tsv", "--out", "out"}).code, 0);
  const std::string text = "music\tThe violin, CELLO new\nnone\tother words\nbirds\tbirds\n";
  write_file(slide_.path("new.tsv"), text);
  const Outcome from_text = expect_done(slide_.run({"predict", "out/model.slide", "new.tsv"}));
  for (const char* out : {"new.xmc", "new.libsvm", "X.new.npz"}) {
    convert({"new.tsv", out, "--model", "out/model.slide"});
    const Outcome from_features = expect_done(slide_.run({"predict", "out/model.slide", out}));
    EXPECT_EQ(from_features.out, from_text.out) << out;
  }
  convert({"new.tsv", "fit.xmc", "--fit", "t.tsv", "--set", "text.min_count=1", "--set",
           "text.hash_buckets=7", "--set", "text.char_ngrams_max=4"});
  EXPECT_EQ(file("fit.xmc"), file("new.xmc"));
}

TEST_F(ConvertTest, Faults) {
  expect_bad(2, "the name does not tell the format; give --to", {"d.txt", "d.bin"});
  expect_bad(2, "no such file", {"missing.txt", "d.xmc"});
  expect_bad(2, "--to", {"d.txt", "d.xmc", "--to", "csv"});
  expect_bad(2, "FEATURES.npz,LABELS.npz", {"d.txt", "d.npz"});
  expect_bad(2, "only keys of [text]", {"t.tsv", "t.xmc", "--set", "train.epochs=3"});
  expect_bad(2, "text.word_ngrams", {"t.tsv", "t.xmc", "--set", "text.word_ngram=3"});
  expect_bad(2, "--label-names", {"d.txt", "d.xmc", "--label-names", "l"});
  write_file(slide_.path("comma.ft"), "__label__a,b text\n");
  expect_bad(2, "comma.ft:1:1: the label 'a,b' has a comma", {"comma.ft", "comma.tsv"});
  write_file(slide_.path("twins.tsv"), "a b\tx y\na_b\tz w\n");
  expect_bad(2, "twins.tsv:2:1: the labels 'a b' and 'a_b' would both become __label__a_b",
             {"twins.tsv", "twins.ft"});
  const auto refuses_table = [&](const std::string& text, const std::string& as) {
    write_file(slide_.path("other.ft"), text);
    expect_bad(2, "other.tsv: " + as, {"other.ft", "other.tsv"});
    EXPECT_FALSE(std::filesystem::exists(slide_.path("other.tsv")));
  };
  refuses_table("__label__5 7\n__label__6 8\n", "it would be read as a log of interactions");
  refuses_table("__label__1 2:3\n__label__2 3:4\n", "it would be read as libsvm text");
  refuses_table("__label__user item\n__label__a b\n__label__c d\n",
                "it would be read as a log of interactions");
  refuses_table("__label__\xef\xbb\xbfx a b\n", "its first line would begin with a byte order mark");
  write_file(slide_.path("bad.tsv"), "a\tb\nc d\n");
  expect_bad(2, "bad.tsv:2:4: no TAB", {"bad.tsv", "bad.ft"});
  EXPECT_FALSE(std::filesystem::exists(slide_.path("bad.ft"))) << "no half a file";
  expect_bad(2, "images-idx3", {"d.txt", "d.xmc", "--from", "idx"});
  expect_bad(2, "missing/d.xmc", {"d.txt", "missing/d.xmc"});
  expect_bad(2, "no slide model", {"t.tsv", "t.xmc", "--model", "t.tsv"});
}

}  // namespace
}  // namespace slide::test

// What newcomers try first: data of another form, a user's name as a file, shares that are no use. Each
// answer says what to do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class FirstTriesTest : public CliTest {
 protected:
  void write(const std::string& name, const std::string& text) { write_file(slide_.path(name), text); }
  Outcome train(const std::string& data, const Strings& more = {}) {
    return slide_.run(Strings{"train", data, "--out", "r", "--force", "--epochs", "2", "--quiet", "--set",
                              "text.min_count=1"} +
                      more);
  }
  // XMC text of `labels` labels, each of two features.
  static std::string xmc(int samples, int features, int labels) {
    std::string text = fmt::format("{} {} {}\n", samples, features, labels);
    for (int i = 0; i < samples; ++i)
      text += fmt::format("{} {}:1 {}:1\n", i % labels, i % labels, features - 1);
    return text;
  }
};

TEST_F(FirstTriesTest, LabelsBehindTheText) {
  write("t.ft", "f(): a river __label__nature\nthe cello __label__music plays\nred river __label__nature\n");
  for (const Strings& more : {Strings{}, {"--set", "data.format=text"}}) expect_done(train("t.ft", more));
  write("new.ft", "a red river __label__nature\n");
  EXPECT_EQ(Json::parse(expect_done(slide_.run({"test", "r", "new.ft", "--k", "1", "--json"})).out)["p_at_1"],
            1);
  write("none.txt", "ci: fix a river\n");
  EXPECT_TRUE(contains(expect_done(slide_.run({"test", "r", "none.txt"})).err, "no sample has a label"));
  write("log.csv", "id,text\n1,a river\n");
  expect_refused(slide_.run({"test", "r", "log.csv"}), "if this is a table with the columns id, text");
  expect_refused(train("none.txt"),
                 "none.txt:1:1: the format is not clear: this looks like text without labels");
}

TEST_F(FirstTriesTest, ALogForAModelOfText) {
  write("t.tsv", "a\tred ball\nb\tblue ball\n");
  ASSERT_EQ(train("t.tsv").code, 0);
  write("ratings.dat", "1::1193::5::978300760\n2::1193::5::978300760\n");
  expect_refused(slide_.run({"predict", "r", "ratings.dat"}), "ratings.dat:1:1: this looks like a log");
  EXPECT_EQ(slide_.run({"predict", "r", "ratings.dat", "--format", "text"}).code, 0);
  write("numbers.txt", "1 2\n3 4\n");
  EXPECT_EQ(slide_.run({"predict", "r", "numbers.txt"}).code, 0);
}

TEST_F(FirstTriesTest, AHeaderOfAnotherSet) {
  write("d.txt", xmc(20, 6, 4));
  ASSERT_EQ(train("d.txt").code, 0);
  write("same.txt", xmc(8, 6, 4));
  EXPECT_EQ(slide_.run({"test", "r", "same.txt"}).err, "");
  for (const auto& [features, labels] : {std::pair{5, 4}, {6, 3}}) {
    write("other.txt", xmc(8, features, labels));
    const std::string warning =
        fmt::format("other.txt:1: the header has {} features and {} labels", features, labels);
    EXPECT_TRUE(contains(expect_done(slide_.run({"test", "r", "other.txt"})).err, warning));
    expect_refused(slide_.run({"test", "r", "other.txt", "--strict"}), warning);
  }
  write("new.txt", xmc(8, 7, 4));
  EXPECT_FALSE(contains(slide_.run({"test", "r", "new.txt"}).err, "the header has"));
  write("fewer.txt", xmc(8, 6, 3));
  EXPECT_TRUE(
      contains(expect_done(train("d.txt", {"--test", "fewer.txt"})).err, "fewer.txt:1: the header has"));
  EXPECT_EQ(train("d.txt", {"--test", "same.txt"}).err, "");
  // Numbers of features mean nothing to words, unless they are those that convert gave them.
  write("t.tsv", "a\tred ball\nb\tblue ball\na\tred red\nb\tblue sky\n");
  write("small.txt", xmc(8, 2, 1));
  EXPECT_TRUE(
      contains(expect_done(train("t.tsv", {"--test", "small.txt"})).err, "small.txt:1: the header has"));
}

TEST_F(FirstTriesTest, LabelsThatEndInAComma) {
  write("t.ft", "__label__a, red ball\n__label__a red\n__label__b blue sky\n__label__b blue\n");
  EXPECT_TRUE(contains(expect_done(train("t.ft")).err, "t.ft:1: the labels 'a,' and 'a' are two"));
  write("t.ft", "__label__a, red ball\n__label__a, red\n__label__b blue sky\n__label__b blue\n");
  EXPECT_EQ(expect_done(train("t.ft")).err, "");
}

TEST_F(FirstTriesTest, ManySamplesWithoutALabel) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += i % 3 == 0 ? "__lable__a red ball\n" : i % 3 == 1 ? "__label__b sky\n" : "__label__c tree\n";
  write("t.ft", text);
  EXPECT_TRUE(
      contains(expect_done(train("t.ft")).err, "t.ft: 14 of 40 samples have no label and are skipped"));
}

TEST_F(FirstTriesTest, ASearchReplacesNoData) {
  write("t.tsv", "a\tred ball\nb\tblue ball\n");
  write("precious.txt", "a\tred ball\n");
  expect_refused(slide_.run({"tune", "t.tsv", "--out", "precious.txt", "--trials", "1"}),
                 "precious.txt: a file that is no configuration");
  EXPECT_EQ(file("precious.txt"), "a\tred ball\n");
}

TEST_F(FirstTriesTest, SharesThatLeaveTooLittle) {
  write("d.txt", xmc(1000, 6, 4));
  const auto warned = [&](const char* share) {
    return expect_done(train("d.txt", {"--set", fmt::format("data.validation={}", share)})).err;
  };
  EXPECT_TRUE(contains(warned("0.00001"), "data.validation holds 1 of 1000 samples out, too few"));
  EXPECT_TRUE(contains(warned("0.99"), "data.validation leaves 10 of 1000 samples to train on"));
  EXPECT_EQ(warned("0.1"), "");
  write("d.txt", xmc(40, 6, 4));
  EXPECT_EQ(warned("0.1"), "") << "a tenth of a small set";
}

TEST_F(FirstTriesTest, IdsWithGaps) {
  write("f.svm", "0 1:1\n1 3000000000:1\n");
  expect_refused(train("f.svm"),
                 "the largest feature id is 3000000000, but samples have only 2 features in all");
  write("l.svm", "0 1:1\n2000000000 1:1\n");
  expect_refused(train("l.svm"), "neighbours.share = 0; the largest label id is 2000000000");
  write("some.svm", "5 0:1 1:1\n200000 1:1\n5 0:2\n200000 1:2\n");
  const Outcome warned = expect_done(train("some.svm", {"--set", "layer.0.size=16"}));
  EXPECT_TRUE(contains(warned.err, "warning: ")) << warned.err;
  EXPECT_TRUE(contains(warned.err,
                       "some.svm: the largest label id is 200000, but samples have only 4 labels in all"));
  write("stated.xmc", "4 2 200001\n5 0:1 1:1\n200000 1:1\n5 0:2\n200000 1:2\n");
  EXPECT_EQ(expect_done(train("stated.xmc", {"--set", "layer.0.size=16"})).err, "");
}

TEST_F(FirstTriesTest, AUserAsAFile) {
  write("log", "1 2 3\n2 3\n3 1 2\n");
  ASSERT_EQ(train("log", {"--set", "data.kind=interactions"}).code, 0);
  expect_refused(slide_.run({"recommend", "r", "--users", "5"}),
                 "echo USER | slide recommend MODEL --users -");
  EXPECT_EQ(slide_.run({"recommend", "r", "--users", "-"}, "2\n").code, 0);
}

TEST_F(FirstTriesTest, NamesOfOthers) {
  write("t.tsv", "a\tred ball\nb\tblue ball\n");
  expect_refused(train("t.tsv", {"--set", "loss.kind=ova"}), "did you mean 'sigmoid'?");
  expect_refused(train("t.tsv", {"--set", "loss.kind=hs"}), "did you mean 'softmax'?");
  expect_refused(slide_.run({"--versoin"}), "unknown option '--versoin'; did you mean '--version'?");
  expect_refused(slide_.run({"-x", "train"}), "unknown option '-x'");
  EXPECT_EQ(slide_.run({"--version"}).code, 0);
}

}  // namespace
}  // namespace slide::test

// Tests of `slide vectors`: output and refusals.
#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class VectorsCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
    expect_done(slide_.run({"train", "small.toml", "--set", "data.train=data/train.txt", "--out", "out"}));
  }
  Outcome vectors(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), "vectors");
    return slide_.run(arguments, input);
  }
  static std::size_t numbers_in(const std::string& line) {
    std::istringstream words(line);
    std::size_t count = 0;
    for (std::string word; words >> word;) ++count;
    return count;
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(VectorsCommandTest, SamplesHaveALineEach) {
  const Outcome done = expect_done(vectors({"out", "data/test.txt"}));
  const std::vector<std::string> lines = lines_of(done.out);
  ASSERT_EQ(lines.size(), 70U);
  for (const std::string& line : lines) EXPECT_EQ(numbers_in(line), 16U);
  EXPECT_EQ(vectors({"out", "-"}, read_file(slide_.path("data/test.txt"))).out, done.out);
}

TEST_F(VectorsCommandTest, LabelsAndFeaturesHaveNames) {
  const std::vector<std::string> labels = lines_of(vectors({"out"}).out);
  ASSERT_EQ(labels.size(), 61U);
  EXPECT_EQ(labels[0], "60 16");
  EXPECT_EQ(labels[1].substr(0, 2), "0 ");
  EXPECT_EQ(numbers_in(labels[1]), 17U);
  expect_done(vectors({"out", "--of", "features", "--out", "f.vec", "--names", "names.txt"}));
  EXPECT_EQ(lines_of(read_file(slide_.path("f.vec"))).size(), 121U);
  EXPECT_EQ(lines_of(read_file(slide_.path("names.txt"))).size(), 120U);
}

TEST_F(VectorsCommandTest, BadRowsAreZerosOrAnError) {
  const std::string rows = " 1:1\nx y\n 2:1\n";
  const Outcome strict = vectors({"out", "-"}, rows);
  EXPECT_EQ(strict.code, 2);
  const Outcome lenient = vectors({"out", "-", "--skip-bad"}, rows);
  EXPECT_EQ(lenient.code, 3) << lenient.err;
  const std::vector<std::string> lines = lines_of(lenient.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
  EXPECT_NE(lines[0], lines[2]);
}

TEST_F(VectorsCommandTest, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(vectors({"out", "--of", "samples"}).err,
            "slide: --of samples: of which? name the data after the model\n");
  EXPECT_EQ(vectors({"out", "data/test.txt", "--of", "labels"}).err,
            "slide: --of labels: these are of the model alone; leave data/test.txt out\n");
  EXPECT_EQ(vectors({"out", "data/test.txt", "--names", "n.txt"}).code, 2);
  EXPECT_EQ(vectors({"none"}).code, 2);
}

TEST_F(VectorsCommandTest, TrainingStartsFromThem) {
  ASSERT_EQ(vectors({"out", "--of", "features", "--out", "f.vec"}).code, 0);
  const std::vector<std::string> train = {"train",     "small.toml", "--set", "data.train=data/train.txt",
                                          "--vectors", "f.vec",      "--out", "from"};
  const Outcome done = expect_done(slide_.run(train));
  EXPECT_TRUE(contains(done.out, "120 features start from the vectors of "));

  std::ofstream(slide_.path("short.vec")) << "2 3\n0 1 2 3\n1 1 2 3\n";
  const Outcome narrow = slide_.run({"train", "data/train.txt", "--vectors", "short.vec", "--out", "narrow"});
  EXPECT_EQ(narrow.code, 2);
  EXPECT_TRUE(
      contains(narrow.err, "short.vec:2: a vector of 3 numbers, but the first layer has 128 neurons"));
  EXPECT_FALSE(std::filesystem::exists(slide_.path("narrow"))) << "nothing was trained";
  expect_refused(
      slide_.run({"train", "data/train.txt", "--vectors", "f.vec", "--init", "out", "--out", "both"}),
      "train.vectors");
  expect_refused(slide_.run({"tune", "data/train.txt", "--set", "train.vectors=f.vec", "--trials", "1",
                             "--out", "t.toml"}),
                 "a search starts from random weights");
}

}  // namespace
}  // namespace slide::test

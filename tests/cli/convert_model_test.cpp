// Tests of `slide convert` of a model: output and refusals.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class ConvertModelTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
    expect_done(train({"--set", "layer.-1.wide=true", "neighbours.share=0.25"}));
  }
  Outcome convert(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "convert");
    return slide_.run(arguments);
  }
  void expect_bad(const std::string& part, const std::vector<std::string>& arguments) {
    expect_refused(convert(arguments), part);
    EXPECT_FALSE(exists("small.slide"));
  }
};

TEST_F(ConvertModelTest, TellsSizesAndMeasures) {
  const Outcome done = expect_done(
      convert({"out", "small.slide", "--weights", "int8", "--prune", "10%", "--test", "data/test.txt"}));
  for (const char* part :
       {"small.slide: ", "linear term", "neighbours", "optimizer state", "file  ", "P@1  ", "nDCG@5"})
    EXPECT_TRUE(contains(done.out, part));
  EXPECT_LT(file("small.slide").size(), file("out/model.slide").size() / 2);
}

TEST_F(ConvertModelTest, JsonHasTheMeasuresOfTest) {
  const Outcome done = expect_done(
      convert({"out/model.slide", "small.slide", "--weights", "bf16", "--test", "data/test.txt", "--json"}));
  const Json json = Json::parse(done.out);
  EXPECT_EQ(json["samples"], 70);
  EXPECT_EQ(json["after"]["form"], "bf16");
  EXPECT_EQ(json["after"]["bytes"], file("small.slide").size());
  EXPECT_EQ(json["before"]["bytes"], file("out/model.slide").size());
  EXPECT_EQ(json["after"]["optimizer_bytes"], 0);
  const Outcome test = expect_done(slide_.run({"test", "small.slide", "data/test.txt", "--json"}));
  EXPECT_EQ(json["after"]["p_at_1"], Json::parse(test.out)["p_at_1"]);
  const Json inspected = Json::parse(slide_.run({"inspect", "small.slide", "--json"}).out);
  EXPECT_GT(inspected["pairs"], 0);
  EXPECT_EQ(inspected["format"], 10);
  EXPECT_EQ(inspected["form"], "bf16");
  EXPECT_EQ(inspected["file"]["wide_bytes"], json["after"]["wide_bytes"]);
}

TEST_F(ConvertModelTest, WithoutTheOptimizerAnswersAreTheSame) {
  expect_done(convert({"out", "small.slide", "--drop-optimizer"}));
  EXPECT_EQ(slide_.run({"predict", "small.slide", "data/test.txt"}).out,
            slide_.run({"predict", "out", "data/test.txt"}).out);
}

TEST_F(ConvertModelTest, RefusesWhatDoesNotFit) {
  expect_bad("say how it changes", {"out", "small.slide"});
  expect_bad("say how it changes", {"out", "small.slide", "--test", "data/test.txt"});
  expect_bad("--one-based is for data", {"out", "small.slide", "--weights", "int8", "--one-based"});
  expect_bad("--prune", {"out", "small.slide", "--prune", "-1"});
  expect_bad("--prune", {"out", "small.slide", "--prune", "100%"});
  expect_bad("--prune", {"out", "small.slide", "--prune", "some"});
  expect_bad("--weights", {"out", "small.slide", "--weights", "int4"});
  expect_bad("--threshold: the threshold -0.5 is no probability",
             {"out", "small.slide", "--threshold", "-0.5"});
  expect_bad("--threshold: the threshold 30 is no probability", {"out", "small.slide", "--threshold", "30"});
  write_file(slide_.path("high.json"), R"({"threshold":0.5,"labels":[{"id":1,"threshold":1.3}]})");
  expect_bad("high.json: the threshold 1.3 is no probability",
             {"out", "small.slide", "--threshold", "high.json"});
  write_file(slide_.path("none.json"),
             R"({"threshold":1.01})");  // above all: no score has the precision
  EXPECT_EQ(convert({"out", "none.slide", "--threshold", "none.json"}).code, 0);
  expect_bad("missing.json", {"out", "small.slide", "--threshold", "missing.json"});
  write_file(slide_.path("no.json"), "[0.5]");
  expect_bad("no.json: is no file of thresholds", {"out", "small.slide", "--threshold", "no.json"});
  for (const std::string& behind : {std::string(1, '\0') + "}", std::string(100, '[')}) {
    write_file(slide_.path("odd.json"), R"({"threshold": 0.5})" + behind);
    expect_bad("odd.json: is no file of thresholds", {"out", "small.slide", "--threshold", "odd.json"});
    write_file(slide_.path("odd.jsonl"), R"({"predictions":[{"id":1,"score":0.5}]})" + behind + "\n");
    expect_refused(slide_.run({"evaluate", "odd.jsonl", "data/test.txt"}), "odd.jsonl:1:1: ");
  }
  write_file(slide_.path("far.json"), R"({"threshold":0.5,"labels":[{"id":100000,"threshold":0.5}]})");
  expect_bad("the model has no label 100000", {"out", "small.slide", "--threshold", "far.json"});
  write_file(slide_.path("two.json"),
             R"({"threshold":0.5,"labels":[{"id":1,"threshold":0.5},{"id":1,"threshold":0.4}]})");
  expect_bad("label 1 is there twice", {"out", "small.slide", "--threshold", "two.json"});
  expect_bad("no slide model", {"data/test.txt", "small.slide", "--weights", "int8"});
  expect_bad("another name", {"out", "out/model.slide", "--drop-optimizer"});
}

// What evaluate finds, convert stores and predict uses; the F1 that evaluate prints is that of the answers.
TEST_F(ConvertModelTest, StoredThresholdsDecide) {
  ASSERT_EQ(slide_.run({"predict", "out", "data/test.txt", "--k", "20", "--out", "scores.npz"}).code, 0);
  const Outcome found =
      expect_done(slide_.run({"evaluate", "scores.npz", "data/test.txt", "--label-thresholds", "5",
                              "--save-thresholds", "thresholds.json", "--json"}));
  const Json wanted = Json::parse(found.out);
  EXPECT_GT(wanted["label_thresholds"], 0);
  ASSERT_EQ(convert({"out", "decided.slide", "--threshold", "thresholds.json"}).code, 0);
  const Outcome answers = expect_done(slide_.run({"predict", "decided.slide", "data/test.txt"}));
  write_file(slide_.path("answers.txt"), answers.out);
  const Json given =
      Json::parse(slide_.run({"evaluate", "answers.txt", "data/test.txt", "--threshold", "0", "--json"}).out);
  for (const char* rate : {"f1_micro", "f1_macro", "f1_samples", "precision_micro", "recall_macro"})
    EXPECT_NEAR(given[rate], wanted[rate], 1e-9) << rate;
  EXPECT_EQ(slide_.run({"predict", "decided.slide", "data/test.txt", "--k", "3"}).out,
            slide_.run({"predict", "out", "data/test.txt", "--k", "3"}).out);
  EXPECT_EQ(slide_.run({"predict", "decided.slide", "data/test.txt", "--threshold", "0.2"}).out,
            slide_.run({"predict", "out", "data/test.txt", "--threshold", "0.2"}).out);
  ASSERT_EQ(convert({"decided.slide", "again.slide", "--weights", "bf16"}).code, 0);
  const Json inspected = Json::parse(slide_.run({"inspect", "again.slide", "--json"}).out);
  EXPECT_EQ(inspected["threshold"], wanted["threshold"]);
  EXPECT_EQ(inspected["label_thresholds"], wanted["label_thresholds"]);
  ASSERT_EQ(convert({"out", "half.slide", "--threshold", "0.5"}).code, 0);
  EXPECT_EQ(slide_.run({"predict", "half.slide", "data/test.txt"}).out,
            slide_.run({"predict", "out", "data/test.txt", "--threshold", "0.5"}).out);
}

// Scores change by training; that thresholds of scores go is said.
TEST_F(ConvertModelTest, TrainingSaysThatItDropsThresholds) {
  ASSERT_EQ(convert({"out", "half.slide", "--threshold", "0.5"}).code, 0);
  const std::vector<std::string> continued = {"train", "data/train.txt", "--epochs",
                                              "1",     "--quiet",        "--init"};
  for (const auto& [model, said] : {std::pair("half.slide", true), {"out", false}}) {
    std::vector<std::string> arguments = continued;
    arguments.insert(arguments.end(), {model, "--out", std::string(model) + "-more"});
    const Outcome done = expect_done(slide_.run(arguments));
    EXPECT_EQ(done.err.find("half.slide: its thresholds are dropped") != std::string::npos, said) << done.err;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), said ? 1 : 0) << done.err;
  }
}

}  // namespace
}  // namespace slide::test

// Tests of --json: one object, or one per line, with the figures of the text output.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class JsonTest : public CliTest {
 protected:
  Json json_of(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Outcome outcome = expect_done(slide_.run(arguments));
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
    return Json::parse(outcome.out);
  }
};

TEST_F(JsonTest, InspectTellsOfAModel) {
  train_model();
  const Json told = json_of({"inspect", "out"});
  EXPECT_EQ(told["samples"], 300);
  EXPECT_EQ(told["features"], 120);
  EXPECT_EQ(told["labels"], 60);
  EXPECT_EQ(told["text"], nullptr);
  EXPECT_EQ(told["layers"].size(), 2U);
  EXPECT_EQ(told["layers"][1]["neurons"], 60);
  EXPECT_EQ(told["layers"][1]["kind"], "sampled");
  EXPECT_GT(told["pairs"], 0);
  EXPECT_EQ(told["layers"][0]["parameters"], (120 + told["pairs"].get<int>()) * 16 + 16);
  EXPECT_GT(told["memory"]["training_bytes"], told["memory"]["weights_bytes"]);
  EXPECT_EQ(told["tables"][0]["layer"], 1);
  EXPECT_EQ(told["tables"][0]["tables"], 8);
}

TEST_F(JsonTest, InspectTellsOfLabels) {
  train_model();
  const Json told = json_of({"inspect", "out", "--label", "7", "--label", "3", "--k", "4"});
  ASSERT_EQ(told["labels"].size(), 2U);
  EXPECT_EQ(told["labels"][0]["id"], 7);
  EXPECT_EQ(told["labels"][0]["nearest"].size(), 4U);
  EXPECT_GE(told["labels"][0]["nearest"][0]["cosine"], told["labels"][0]["nearest"][1]["cosine"]);
  EXPECT_EQ(told["labels"][1]["features"], nullptr);  // no linear term
}

TEST_F(JsonTest, InspectTellsOfAConfiguration) {
  generate();
  const Json sized = json_of({"inspect", "small.toml", "--set", "data.train=data/train.txt"});
  EXPECT_EQ(sized["configuration"], "small.toml");
  EXPECT_EQ(sized["labels"], 60);
  EXPECT_FALSE(sized["memory"]["guessed"]);
  const Json unsized = json_of({"inspect", "small.toml"});
  EXPECT_EQ(unsized["labels"], nullptr);
  EXPECT_FALSE(unsized.contains("memory"));
  EXPECT_TRUE(contains(unsized["toml"].get<std::string>(), "[data]"));
}

TEST_F(JsonTest, ConvertTellsOfItsOutput) {
  generate();
  const Json told = json_of({"convert", "data/train.txt", "train.svm"});
  EXPECT_EQ(told["out"], "train.svm");
  EXPECT_EQ(told["samples"], 300);
  EXPECT_EQ(told["features"], 120);
  EXPECT_EQ(told["labels"], 60);
  EXPECT_EQ(told["bad_rows"], 0);
  write_file(slide_.path("text.tsv"), "a\tone\nb\ttwo\n");
  EXPECT_EQ(json_of({"convert", "text.tsv", "text.ft"})["features"], nullptr);
}

TEST_F(JsonTest, TuneTellsOfEachTrialAndOfTheResult) {
  generate();
  const Outcome done =
      expect_done(slide_.run({"tune", "small.toml", "--set", "data.train=data/train.txt", "--trials", "3",
                              "--minutes", "5", "--out", "best.toml", "--json"}));
  const std::vector<Json> lines = events_of(done.out);
  ASSERT_EQ(lines.size(), 4U) << done.out;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(lines[i]["trial"], i + 1);
  EXPECT_TRUE(lines[0]["changes"].empty());
  EXPECT_EQ(lines[3]["trials"], 3);
  EXPECT_EQ(lines[3]["out"], "best.toml");
  const auto best = lines[3]["best_trial"].get<std::size_t>();
  EXPECT_EQ(lines[3]["score"], lines[best - 1]["score"]);
}

}  // namespace
}  // namespace slide::test

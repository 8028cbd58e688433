// Tests of `slide convert --calibrate`: what it stores, prints and refuses, and that all ways of prediction
// agree.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class CalibrateTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
    expect_done(train({"--set", "loss.kind=sigmoid", "layer.-1.wide=true", "neighbours.share=0.25"}));
    done_ = expect_done(
        slide_.run({"convert", "out", "small.slide", "--drop-optimizer", "--calibrate", "data/test.txt"}));
  }
  // Label and probability of each answer, line by line.
  static std::vector<std::vector<std::pair<std::string, double>>> answers(const Outcome& outcome) {
    std::vector<std::vector<std::pair<std::string, double>>> all;
    std::istringstream lines(expect_done(outcome).out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      all.emplace_back();
      for (std::string field; fields >> field;) {
        const std::size_t colon = field.rfind(':');
        all.back().emplace_back(field.substr(0, colon), std::stod(field.substr(colon + 1)));
      }
    }
    return all;
  }
  auto predicted(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"predict"});
    return answers(slide_.run(arguments));
  }

  Outcome done_;
};

TEST_F(CalibrateTest, LowersTheErrorAndKeepsTheOrder) {
  EXPECT_TRUE(contains(done_.out, "calibrated on 70 samples: error of probabilities 0."));
  const auto before = predicted({"out", "data/test.txt", "--k", "10"}),
             after = predicted({"small.slide", "data/test.txt", "--k", "10"});
  ASSERT_EQ(before.size(), 70U);
  ASSERT_EQ(after.size(), before.size());
  std::size_t other = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t r = 0; r < before[i].size(); ++r) {
      EXPECT_EQ(after[i][r].first, before[i][r].first);
      other += std::abs(after[i][r].second - before[i][r].second) > 1e-3 ? 1 : 0;
    }
  }
  EXPECT_GT(other, 70U);
  const auto error = [&](const std::string& model) {
    expect_done(slide_.run({"predict", model, "data/test.txt", "--k", "20", "--out", model + ".npz"}));
    return Json::parse(expect_done(slide_.run({"evaluate", model + ".npz", "data/test.txt", "--json"}))
                           .out)["reliability"]["error"]
        .get<double>();
  };
  EXPECT_LT(error("small.slide"), error("out/model.slide"));
}

// The probabilities of the best labels depend on 20 of them, however many are wanted, and however they are
// found.
TEST_F(CalibrateTest, AnswersDoNotDependOnTheirNumber) {
  const auto many = predicted({"small.slide", "data/test.txt", "--k", "30"}),
             one = predicted({"small.slide", "data/test.txt", "--k", "1"}),
             reaching = predicted({"small.slide", "data/test.txt", "--threshold", "0.1"});
  for (std::size_t i = 0; i < many.size(); ++i) {
    ASSERT_EQ(one[i].size(), 1U);
    EXPECT_EQ(one[i][0], many[i][0]);
    std::size_t reach = 0;
    while (reach < many[i].size() && many[i][reach].second >= 0.1) ++reach;
    ASSERT_EQ(reaching[i].size(), reach);
    for (std::size_t r = 0; r < reach; ++r) EXPECT_EQ(reaching[i][r], many[i][r]);
  }
  const std::string line = file("data/test.txt");
  const std::size_t second = line.find('\n') + 1;
  write_file(slide_.path("one.txt"), line.substr(second, line.find('\n', second) + 1 - second));
  const auto alone = predicted({"small.slide", "one.txt", "--k", "1"});
  EXPECT_EQ(alone[0][0].first, one[0][0].first);
  EXPECT_NEAR(alone[0][0].second, one[0][0].second, 1e-5);
}

TEST_F(CalibrateTest, IsShownKeptAndDropped) {
  EXPECT_TRUE(contains(slide_.run({"inspect", "small.slide"}).out, "calibration        slope "));
  const Json json = Json::parse(slide_.run({"inspect", "small.slide", "--json"}).out);
  EXPECT_GT(json["calibration"]["slope"], 0);
  EXPECT_EQ(json["format"], 12);
  EXPECT_TRUE(Json::parse(slide_.run({"inspect", "out", "--json"}).out)["calibration"].is_null());
  // Other conversions keep it; thresholds go with the probabilities that they were found for.
  expect_done(
      slide_.run({"convert", "small.slide", "int8.slide", "--weights", "int8", "--threshold", "0.2"}));
  EXPECT_EQ(Json::parse(slide_.run({"inspect", "int8.slide", "--json"}).out)["calibration"],
            json["calibration"]);
  const Outcome again = expect_done(
      slide_.run({"convert", "int8.slide", "again.slide", "--calibrate", "data/test.txt", "--json"}));
  EXPECT_TRUE(contains(again.err, "the thresholds are dropped"));
  EXPECT_TRUE(Json::parse(slide_.run({"inspect", "again.slide", "--json"}).out)["threshold"].is_null());
  const Json fitted = Json::parse(again.out)["calibration"];
  EXPECT_EQ(fitted["samples"], 70);
  EXPECT_LE(fitted["error"], fitted["error_before"]);
  const Outcome further = expect_done(train(
      {"--init", "small.slide", "--set", "loss.kind=sigmoid", "layer.-1.wide=true", "neighbours.share=0.25"},
      "more"));
  EXPECT_TRUE(contains(further.err, "its calibration is dropped"));
  EXPECT_TRUE(Json::parse(slide_.run({"inspect", "more", "--json"}).out)["calibration"].is_null());
}

TEST_F(CalibrateTest, WhatCannotBeIsRefused) {
  const Outcome same = expect_done(
      slide_.run({"convert", "out", "same.slide", "--drop-optimizer", "--calibrate", "data/train.txt"}));
  EXPECT_TRUE(contains(same.err, "data/train.txt: training reads this file"));
  expect_refused(slide_.run({"convert", "out", "x.slide", "--calibrate", "none.txt"}),
                 "none.txt: no such file");
  const std::string text = file("data/test.txt");
  const std::size_t tenth = [&] {
    std::size_t end = 0;
    for (int line = 0; line < 11; ++line) end = text.find('\n', end) + 1;
    return end;
  }();
  write_file(slide_.path("few.txt"), "10" + text.substr(text.find(' '), tenth - text.find(' ')));
  const Outcome few = expect_done(slide_.run({"convert", "out", "few.slide", "--calibrate", "few.txt"}));
  EXPECT_TRUE(contains(few.err, "few.txt: its 10 samples are few")) << few.err;
  std::string bare = text.substr(0, text.find('\n') + 1);  // the header
  for (int i = 0; i < 70; ++i) bare += " 1:1\n";
  write_file(slide_.path("bare.txt"), bare);
  expect_refused(slide_.run({"convert", "out", "x.slide", "--calibrate", "bare.txt"}),
                 "no calibration fits these 70 samples");
  expect_done(train({}, "soft"));
  expect_refused(slide_.run({"convert", "soft", "x.slide", "--calibrate", "data/test.txt"}),
                 "loss.kind = softmax");
  EXPECT_FALSE(exists("x.slide"));
}

}  // namespace
}  // namespace slide::test

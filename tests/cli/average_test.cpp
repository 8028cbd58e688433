// Tests of `slide average`: output and refusals.
#include <gtest/gtest.h>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class EnsembleCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
    for (const char* seed : {"1", "2"}) {
      expect_done(slide_.run({"train", "small.toml", "--set", "data.train=data/train.txt", "--seed", seed,
                              "--out", std::string("seed") + seed}));
    }
  }
};

TEST_F(EnsembleCommandTest, WritesAModelLikeAnyOther) {
  const Outcome done =
      expect_done(slide_.run({"average", "seed1", "seed2/model.slide", "--out", "mean.slide"}));
  EXPECT_EQ(done.err, "");
  EXPECT_TRUE(contains(done.out, "mean.slide: 2 models as one of "));
  const Outcome told =
      expect_done(slide_.run({"average", "seed1", "seed2", "--out", "again.slide", "--json"}));
  EXPECT_EQ(file("again.slide"), file("mean.slide"));
  const Json json = Json::parse(told.out);
  const Json one = Json::parse(slide_.run({"inspect", "seed1", "--json"}).out);
  const Json mean = Json::parse(slide_.run({"inspect", "mean.slide", "--json"}).out);
  EXPECT_EQ(json["models"], Json({"seed1", "seed2"}));
  EXPECT_EQ(json["bytes"], file("again.slide").size());
  EXPECT_EQ(json["optimizer_bytes"], 0);
  EXPECT_EQ(mean["layers"][0]["neurons"], json["hidden_units"]);
  EXPECT_EQ(mean["layers"][0]["neurons"], 2 * one["layers"][0]["neurons"].get<int>());
  for (const char* command : {"test", "predict"}) {
    expect_done(slide_.run({command, "mean.slide", "data/test.txt"}));
  }
  expect_done(
      slide_.run({"train", "data/test.txt", "--init", "mean.slide", "--epochs", "1", "--out", "further"}));
}

TEST_F(EnsembleCommandTest, NamesWhatItDrops) {
  expect_done(slide_.run({"convert", "seed1", "decided.slide", "--threshold", "0.3"}));
  const Outcome done =
      expect_done(slide_.run({"average", "decided.slide", "seed2", "--out", "mean.slide", "--force"}));
  EXPECT_TRUE(contains(done.err, "decided.slide: its thresholds are dropped")) << done.err;
  EXPECT_FALSE(contains(done.err, "calibration"));
}

TEST_F(EnsembleCommandTest, RefusesInOneLine) {
  const auto expect_bad = [&](const std::string& part, const std::vector<std::string>& arguments) {
    expect_refused(slide_.run(arguments), part);
    EXPECT_FALSE(exists("mean.slide"));
  };
  expect_bad("one model alone", {"average", "seed1", "--out", "mean.slide"});
  expect_bad("no such model", {"average", "seed1", "seed3", "--out", "mean.slide"});
  expect_bad("--out", {"average", "seed1", "seed2"});
  expect_bad("one of the files that are read", {"average", "seed1", "seed2", "--out", "seed2/model.slide"});
  expect_bad("no slide model", {"average", "data/test.txt", "seed1", "--out", "mean.slide"});
}

}  // namespace
}  // namespace slide::test

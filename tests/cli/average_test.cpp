// Tests of `slide average`: output and refusals.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class EnsembleCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
    for (const char* seed : {"1", "2"}) {
      const Outcome trained = slide_.run({"train", "small.toml", "--set", "data.train=data/train.txt",
                                          "--seed", seed, "--out", std::string("seed") + seed});
      ASSERT_EQ(trained.code, 0) << trained.err;
    }
  }
};

TEST_F(EnsembleCommandTest, WritesAModelLikeAnyOther) {
  const Outcome done = slide_.run({"average", "seed1", "seed2/model.slide", "--out", "mean.slide"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_NE(done.out.find("mean.slide: 2 models as one of "), std::string::npos) << done.out;
  const Outcome told = slide_.run({"average", "seed1", "seed2", "--out", "again.slide", "--json"});
  ASSERT_EQ(told.code, 0) << told.err;
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
    const Outcome used = slide_.run({command, "mean.slide", "data/test.txt"});
    EXPECT_EQ(used.code, 0) << used.err;
  }
  const Outcome further =
      slide_.run({"train", "data/test.txt", "--init", "mean.slide", "--epochs", "1", "--out", "further"});
  EXPECT_EQ(further.code, 0) << further.err;
}

TEST_F(EnsembleCommandTest, RefusesInOneLine) {
  const auto expect_bad = [&](const std::string& part, const std::vector<std::string>& arguments) {
    const Outcome done = slide_.run(arguments);
    EXPECT_EQ(done.code, 2) << done.err;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    EXPECT_NE(done.err.find(part), std::string::npos) << done.err;
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

// Tests of `slide bench-tables`: recall by all that tables hold, and models of every form.
#include <gtest/gtest.h>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class BenchTablesTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    expect_done(slide_.run(
        {"generate", "--samples", "800", "--features", "400", "--labels", "700", "--out", "many"}));
    expect_done(slide_.run({"train", "many/train.txt", "--epochs", "1", "--out", "out", "--quiet", "--set",
                            "layer.-1.wide=false", "neighbours.share=0", "layer.0.size=16"}));
  }
  Json measure(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench-tables");
    arguments.insert(arguments.end(), {"many/test.txt", "--json"});
    return Json::parse(expect_done(slide_.run(arguments)).out);
  }
};

// A bit of a fingerprint has two buckets, and a single sample looks up both.
TEST_F(BenchTablesTest, AllNeuronsAreFoundInTablesOfTwoBuckets) {
  const Json all = measure({"out", "--k", "1", "--tables", "4", "--wanted", "700"});
  EXPECT_EQ(all["recall_at_10"], 1.0);
  EXPECT_EQ(all["found"], 700.0);
  const Json half = measure({"out", "--k", "1", "--tables", "4", "--wanted", "350"});
  EXPECT_EQ(half["found"], 350.0);
}

TEST_F(BenchTablesTest, TakesCopiesInEightAndSixteenBits) {
  const Json whole = measure({"out", "--k", "4", "--wanted", "200"});
  for (const std::string form : {"int8", "bf16"}) {
    expect_done(slide_.run({"convert", "out", form + ".slide", "--weights", form}));
    for (const std::string candidates : {"search", "vanilla"}) {
      const Json copy = measure({form + ".slide", "--k", "4", "--wanted", "200", "--candidates", candidates});
      EXPECT_GT(copy["recall_at_10"], 0.0) << form << " " << candidates;
    }
    EXPECT_NEAR(measure({form + ".slide", "--k", "4", "--wanted", "200"})["recall_at_10"].get<double>(),
                whole["recall_at_10"].get<double>(), 0.1);
  }
}

}  // namespace
}  // namespace slide::test

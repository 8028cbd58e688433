// End-to-end tests of data.label_weights: by number, name and frequency; refusals.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class LabelWeightsCliTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    std::string text;
    for (int i = 0; i < 40; ++i)
      text += fmt::format("{}\tviolin {}\n", i % 10 == 0 ? "rare" : "often", i % 7);
    write_file(slide_.path("d.tsv"), text);
  }
  Outcome teach(const std::string& weights, const std::string& out) {
    return slide_.run({"train", "d.tsv", "--out", out, "--force", "--set", "text.min_count=1",
                       "train.epochs=3", "data.label_weights=" + weights});
  }
  // The scores after training with these weights.
  std::string taught(const std::string& weights) {
    expect_done(teach(weights, "run"));
    const Outcome asked = expect_done(slide_.run({"predict", "run", "-"}, "violin 1\nviolin 2\nviolin 3\n"));
    return asked.out;
  }
  void refused(const std::string& weights, const std::string& what) {
    expect_refused(teach(weights, "no"), what);
  }
};

TEST_F(LabelWeightsCliTest, AreByNumberByNameAndByFrequency) {
  write_file(slide_.path("numbers.txt"), "1\n3\n");
  write_file(slide_.path("names.txt"), "rare\t3\n");
  write_file(slide_.path("ones.txt"), "1\n1\n");
  const std::string plain = taught("0"), named = taught("names.txt");
  EXPECT_EQ(taught("ones.txt"), plain);
  EXPECT_NE(named, plain);
  EXPECT_EQ(taught("numbers.txt"), named) << "the more frequent label is label 0";
  // 36 and 4 samples: the mean of their powers over all pairs is (36 / 6 + 4 / 2) / 40 = 0.2.
  write_file(slide_.path("powers.txt"), "often\t0.8333333333\nrare\t2.5\n");
  const std::string power = taught("-0.5");
  EXPECT_EQ(power, taught("powers.txt"));
  EXPECT_TRUE(contains(read_file(slide_.path("run/config.toml")), slide_.path("powers.txt")))
      << "the path is absolute";
}

TEST_F(LabelWeightsCliTest, AreRefusedInOneLine) {
  refused("-1.5", "'data.label_weights' must be a number in [-1, 1], or a file");
  refused("none.txt", "none.txt: no such file");
  write_file(slide_.path("w.txt"), "1\n");
  refused("w.txt", "w.txt:1: the weights end here, but");
  write_file(slide_.path("w.txt"), "1\n2\n3\n");
  refused("w.txt", "w.txt:3: a weight more than the 2 labels of ");
  write_file(slide_.path("w.txt"), "1\n-2\n");
  refused("w.txt", "w.txt:2: the weight '-2' is no number from 0 on");
  write_file(slide_.path("w.txt"), "1\n1e30\n");
  refused("w.txt", "w.txt: the weight 1e+30 is above 1000000; give smaller ones");
  write_file(slide_.path("w.txt"), "0\n0\n");
  refused("w.txt", "w.txt: all weights are 0");
  write_file(slide_.path("w.txt"), "rare\t1\nseldom\t2\n");
  refused("w.txt", "has no label 'seldom'");
}

}  // namespace
}  // namespace slide::test

// End-to-end tests of `slide tune`.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class TuneCommandTest : public CliTest {};

TEST_F(TuneCommandTest, TuneWritesAConfigurationThatTrains) {
  generate();
  const Outcome done = expect_done(
      slide_.run({"tune", "small.toml", "--set", "data.train=data/train.txt", "--set", "layer.-1.uniform=12",
                  "--trials", "4", "--minutes", "5", "--out", "new/best.toml"}));
  EXPECT_TRUE(contains(done.out, "4 trials on 255 samples of 5 splits each, scored on 115 others"));
  EXPECT_TRUE(contains(done.out, "   1* score "));
  EXPECT_TRUE(contains(read_file(slide_.path("new/best.toml")), "uniform = 12"));
  EXPECT_EQ(slide_.run({"train", "new/best.toml", "--out", "tuned"}).code, 0);
  const std::string page = read_file(slide_.path("new/best.html"));
  EXPECT_TRUE(contains(page, "\"stage\":\"proposal\""));
  EXPECT_TRUE(contains(done.out, "wrote new/best.html about the search"));
}

TEST_F(TuneCommandTest, ThePageGoesWhereReportSays) {
  generate();
  const auto tune = [&](std::vector<std::string> more) {
    return slide_.run(Strings{"tune", "small.toml", "--set", "data.train=data/train.txt", "--trials", "1",
                              "--out", "best.toml"} +
                      more);
  };
  ASSERT_EQ(tune({"--report", "pages/search.html"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(slide_.path("pages/search.html")));
  EXPECT_FALSE(std::filesystem::exists(slide_.path("best.html")));
  EXPECT_EQ(tune({"--report", "pages/search.html"}).code, 0) << "a report replaces a report";
  const Outcome foreign = tune({"--report", "small.toml"});
  EXPECT_EQ(foreign.code, 2);
  EXPECT_TRUE(contains(foreign.err,
                       "small.toml: exists and is no report; remove it, or name another file with --report"));
  EXPECT_EQ(foreign.out, "") << "told after the search";
  EXPECT_EQ(tune({"--report", "best.toml"}).code, 2);
  const Outcome sealed = tune({"--report", "/proc/search.html"});  // not even root can write there
  EXPECT_EQ(sealed.code, 1);
  EXPECT_EQ(sealed.out, "") << "told after the search";
  EXPECT_EQ(std::count(sealed.err.begin(), sealed.err.end(), '\n'), 1) << sealed.err;
  EXPECT_EQ(slide_
                .run({"tune", "small.toml", "--set", "data.train=data/train.txt", "--trials", "1", "--out",
                      "page.html"})
                .code,
            0);
  EXPECT_TRUE(std::filesystem::exists(slide_.path("page.html.html")));
}

TEST_F(TuneCommandTest, TuneRefusesWhatItCannotDo) {
  generate();
  const std::vector<std::string> base = {"tune", "small.toml", "--set", "data.train=data/train.txt"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return slide_.run(more);
  };
  EXPECT_EQ(with({"--minutes", "0"}).code, 2);
  EXPECT_EQ(with({"--minutes", "x"}).code, 2);
  EXPECT_EQ(with({"--trials", "0"}).code, 2);
  for (const char* option : {"--minutes", "--train-seconds"}) {
    expect_refused(with({option, "nan"}), std::string(option) + ": Value nan not in range [0.001");
  }
  write_file(slide_.path("one.txt"), "1 4 3\n0 1:1\n");
  expect_refused(slide_.run({"tune", "one.txt", "--out", "x.toml"}),
                 "one.txt: a validation split needs two samples with labels, and this has 1; give");
  EXPECT_EQ(with({"--train-seconds", "0"}).code, 2);
  const Outcome slow =
      with({"--train-seconds", "0.001", "--trials", "2", "--set", "train.epochs=50", "--out", "x.toml"});
  EXPECT_EQ(slow.code, 2);
  EXPECT_TRUE(slow.err.starts_with("slide: none of 2 trials would train on all the data within 0.001 s"))
      << slow.err;
  EXPECT_EQ(std::count(slow.err.begin(), slow.err.end(), '\n'), 1);
  EXPECT_TRUE(contains(slow.out, "   1  stopped  "));
  EXPECT_FALSE(std::filesystem::exists(slide_.path("x.toml")));
  EXPECT_EQ(with({"--set", "layer.0.sizes=3"}).code, 2);
  EXPECT_EQ(with({"--out", "data"}).code, 2);
  expect_refused(with({"--set", "train.epochs=100000", "--minutes", "0.001"}),
                 "slide: 0.06 seconds were too short for a single training run");
}

}  // namespace
}  // namespace slide::test

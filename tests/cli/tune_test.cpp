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
  const Outcome done =
      slide_.run({"tune", "small.toml", "--set", "data.train=data/train.txt", "--set", "layer.-1.uniform=12",
                  "--trials", "4", "--minutes", "5", "--out", "new/best.toml"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("4 trials on 255 samples of 5 splits each, scored on 115 others"),
            std::string::npos)
      << done.out;
  EXPECT_NE(done.out.find("   1* score "), std::string::npos) << done.out;
  EXPECT_NE(read_file(slide_.path("new/best.toml")).find("uniform = 12"), std::string::npos);
  EXPECT_EQ(slide_.run({"train", "new/best.toml", "--out", "tuned"}).code, 0);
  const std::string page = read_file(slide_.path("new/best.html"));
  EXPECT_NE(page.find("\"stage\":\"proposal\""), std::string::npos);
  EXPECT_NE(done.out.find("wrote new/best.html about the search"), std::string::npos) << done.out;
}

TEST_F(TuneCommandTest, ThePageGoesWhereReportSays) {
  generate();
  const auto tune = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"tune",     "small.toml", "--set", "data.train=data/train.txt",
                                    "--trials", "1",          "--out", "best.toml"};
    all.insert(all.end(), more.begin(), more.end());
    return slide_.run(all);
  };
  ASSERT_EQ(tune({"--report", "pages/search.html"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(slide_.path("pages/search.html")));
  EXPECT_FALSE(std::filesystem::exists(slide_.path("best.html")));
  EXPECT_EQ(tune({"--report", "pages/search.html"}).code, 0) << "a report replaces a report";
  const Outcome foreign = tune({"--report", "small.toml"});
  EXPECT_EQ(foreign.code, 2);
  EXPECT_NE(
      foreign.err.find("small.toml: exists and is no report; remove it, or name another file with --report"),
      std::string::npos)
      << foreign.err;
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
    const Outcome none = with({option, "nan"});
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.err.find(std::string(option) + ": Value nan not in range [0.001"), std::string::npos)
        << none.err;
  }
  write_file(slide_.path("one.txt"), "1 4 3\n0 1:1\n");
  const Outcome one = slide_.run({"tune", "one.txt", "--out", "x.toml"});
  EXPECT_EQ(one.code, 2);
  EXPECT_NE(one.err.find("one.txt: a validation split needs two samples with labels, and this has 1; give"),
            std::string::npos)
      << one.err;
  EXPECT_EQ(with({"--train-seconds", "0"}).code, 2);
  const Outcome slow =
      with({"--train-seconds", "0.001", "--trials", "2", "--set", "train.epochs=50", "--out", "x.toml"});
  EXPECT_EQ(slow.code, 2);
  EXPECT_TRUE(slow.err.starts_with("slide: none of 2 trials would train on all the data within 0.001 s"))
      << slow.err;
  EXPECT_EQ(std::count(slow.err.begin(), slow.err.end(), '\n'), 1);
  EXPECT_NE(slow.out.find("   1  stopped  "), std::string::npos) << slow.out;
  EXPECT_FALSE(std::filesystem::exists(slide_.path("x.toml")));
  EXPECT_EQ(with({"--set", "layer.0.sizes=3"}).code, 2);
  EXPECT_EQ(with({"--out", "data"}).code, 2);
  const Outcome brief = with({"--set", "train.epochs=100000", "--minutes", "0.001"});
  EXPECT_EQ(brief.code, 2);
  EXPECT_NE(brief.err.find("too short for a single training run"), std::string::npos) << brief.err;
}

}  // namespace
}  // namespace slide::test

// Tests of `slide report`: pages of real runs, and one line for every error.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/program.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

class ReportTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file(slide_.path("small.toml"),
               "[train]\nepochs = 2\nbatch_size = 64\nblock_size = 32\n[[layer]]\nsize = 8\n[[layer]]\nkind "
               "= \"dense\"\nwide = false\n");
    ASSERT_EQ(
        slide_.run({"generate", "--samples", "80", "--features", "40", "--labels", "20", "--out", "data"})
            .code,
        0);
    for (const char* out : {"one", "other/one"}) {
      expect_done(slide_.run({"train", "small.toml", "--set", "data.train=data/train.txt", "--set",
                              "data.test=data/test.txt", "--out", out}));
    }
  }
  void expect_failure(int code, const std::string& what, const std::vector<std::string>& arguments) const {
    const Outcome outcome = slide_.run(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, what));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  Program slide_;
};

TEST_F(ReportTest, WritesOnePageAboutSeveralRuns) {
  const Outcome done =
      expect_done(slide_.run({"report", "one", "other/one/metrics.jsonl", "-o", "page.html"}));
  EXPECT_EQ(done.out, "wrote page.html about 2 runs; open it in a browser\n");
  const std::string page = read_file(slide_.path("page.html"));
  EXPECT_TRUE(contains(page, "\"name\":\"other/one\""));
  EXPECT_EQ(slide_.run({"report", "one", "-o", "page.html"}).code, 0);  // a report may replace a report
  EXPECT_EQ(slide_.run({"report", "one"}).code, 0);
  EXPECT_TRUE(fs::exists(slide_.path("report.html")));
}

TEST_F(ReportTest, WatchesRunsUntilTheyEnd) {
  const Outcome over = expect_done(slide_.run({"report", "one", "--watch", "-o", "over.html"}));
  EXPECT_EQ(over.out, "wrote over.html about 1 run; open it in a browser\n");
  EXPECT_FALSE(contains(read_file(slide_.path("over.html")), "\"live\":"));
  // $1: how the watching or the run ends. The page was live until then, and is not after.
  write_file(slide_.path("watch.sh"), R"(
rm -rf going watch.out
until_it() { for _ in $(seq 1200); do "$@" && return; sleep 0.05; done; echo "not: $*" >&2; kill -9 $train $watch; exit 99; }
is_live() { grep -s '"live":5' live.html > /dev/null && grep -s 'is written every' watch.out > /dev/null; }
'$SLIDE' train small.toml --set data.train=data/train.txt train.epochs=1000000 --quiet --out going & train=$!
until_it [ -s going/metrics.jsonl ]
'$SLIDE' report going one --watch -o live.html > watch.out & watch=$!
until_it is_live
eval "kill $1"
wait $watch; code=$?
kill -9 $train 2> kill.err
wait
exit $code
)");
  for (const std::string end : {"-TERM $watch", "-9 $train"}) {
    fs::remove(slide_.path("live.html"));
    const int status = std::system(("cd '" + slide_.folder().string() +
                                    "' && sed -i 's|$SLIDE|" SLIDE_BINARY "|' watch.sh && bash watch.sh '" +
                                    end + "' 2> watch.err")
                                       .c_str());
    EXPECT_EQ(exit_code(status), 0) << end << read_file(slide_.path("watch.err"));
    EXPECT_FALSE(contains(read_file(slide_.path("live.html")), "\"live\":")) << end;
    EXPECT_EQ(
        read_file(slide_.path("watch.out")),
        "live.html is written every 5 s while the run goes on; Ctrl-C ends that\n"
        "going: The run " +
            std::string(end == "-9 $train" ? "was interrupted; 'slide train --resume' goes on with it.\n"
                                           : "goes on; make the report again to see more of it.\n") +
            "wrote live.html about 2 runs; open it in a browser\n");
  }
}

TEST_F(ReportTest, WatchesARunThatHasNotBegun) {
  write_file(slide_.path("late.sh"), R"(
rm -rf late late.out
until_it() { for _ in $(seq 1200); do "$@" && return; sleep 0.05; done; echo "not: $*" >&2; kill -9 $watch; exit 99; }
waits() { grep -s 'is not there yet' late.out > /dev/null; }
'$SLIDE' report late --watch -o late.html > late.out & watch=$!
until_it waits
eval "$1"
wait $watch
)");
  const auto ends_with = [&](const std::string& then) {
    const int status = std::system(("cd '" + slide_.folder().string() +
                                    "' && sed -i 's|$SLIDE|" SLIDE_BINARY "|' late.sh && bash late.sh '" +
                                    then + "' > late.err 2>&1")
                                       .c_str());
    return exit_code(status);
  };
  EXPECT_EQ(ends_with("kill -TERM $watch"), 143);
  EXPECT_FALSE(fs::exists(slide_.path("late.html")));
  EXPECT_EQ(ends_with("mkdir late; cp one/*.* late"), 0) << read_file(slide_.path("late.err"));
  EXPECT_EQ(read_file(slide_.path("late.out")),
            "late/metrics.jsonl is not there yet; waiting for the run to begin; Ctrl-C ends that\n"
            "wrote late.html about 1 run; open it in a browser\n");
  EXPECT_EQ(slide_.run({"report", "none", "-o", "late.html"}).code, 2) << "without --watch";
}

TEST_F(ReportTest, RunsOfOtherDataAreToldApart) {
  ASSERT_EQ(slide_
                .run({"generate", "--samples", "80", "--features", "40", "--labels", "20", "--seed", "9",
                      "--out", "more"})
                .code,
            0);
  for (const std::string data : {"data", "more"}) {
    ASSERT_EQ(slide_
                  .run({"train", "small.toml", "--set", "data.train=" + data + "/train.txt", "--set",
                        "data.validation=0.2", "--out", "held-" + data})
                  .code,
              0);
  }
  const Outcome mixed =
      expect_done(slide_.run({"report", "one", "other/one", "held-data", "held-more", "one"}));
  EXPECT_EQ(mixed.out,
            "the runs are not all measured on the same data; compare within these groups only:\n"
            "  data/train.txt (80 samples), measured on data/test.txt (8 samples)\n"
            "  data/train.txt (80 samples), measured on validation samples held out of it (0.2, seed 1)\n"
            "  more/train.txt (64 samples), measured on validation samples held out of it (0.2, seed 1)\n"
            "wrote report.html about 4 runs; open it in a browser\n");
}

TEST_F(ReportTest, ToldOfACutLogAndAnInterruptedRun) {
  write_file(slide_.path("one/metrics.jsonl"),
             read_file(slide_.path("one/metrics.jsonl")) + "{\"event\":\"ep");
  write_file(slide_.path("one/environment.json"), "{\"finished\": false}");
  const Outcome done = expect_done(slide_.run({"report", "one"}));
  EXPECT_TRUE(contains(done.out, "one: The run was interrupted"));
  EXPECT_TRUE(contains(done.out, "was cut off and is left out"));
}

TEST_F(ReportTest, NestingOfAnyDepthIsRefused) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  write_file(slide_.path("one/environment.json"), "{\"finished\":" + deep + "}");
  EXPECT_EQ(slide_.run({"report", "one"}).code, 0);
  EXPECT_EQ(slide_.run({"train", "--resume", "one"}).code, 0);
  write_file(slide_.path("one/metrics.jsonl"), "{\"event\":\"start\",\"samples\":" + deep + "}\n");
  expect_failure(2, "one/metrics.jsonl:1: this line is no event of a run", {"report", "one"});
}

TEST_F(ReportTest, MistakesAreOneLine) {
  expect_failure(2, "RUN", {"report"});
  expect_failure(2, "nowhere: there is no such run", {"report", "one", "nowhere"});
  expect_failure(2, "data: the folder has no metrics.jsonl", {"report", "data"});
  expect_failure(2, "data/train.txt:1: this line is no event of a run", {"report", "data/train.txt"});
  expect_failure(2, "other: is a folder", {"report", "one", "-o", "other"});
  expect_failure(2, "small.toml: exists and is no report", {"report", "one", "-o", "small.toml"});
  expect_failure(2, "cannot be created", {"report", "one", "-o", "no/folder/page.html"});
  EXPECT_EQ(read_file(slide_.path("small.toml")).substr(0, 7), "[train]");
  EXPECT_FALSE(fs::exists(slide_.path("report.html")));
}

}  // namespace
}  // namespace slide::test

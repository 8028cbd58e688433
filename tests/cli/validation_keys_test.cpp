// End-to-end tests of data.group and data.time: output of train and tune, equal held-out samples, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class ValidationKeysCliTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write_file(slide_.path("v.toml"),
               "[data]\nvalidation = 0.25\n[train]\nepochs = 2\nbatch_size = 16\nblock_size = 16\n[text]\n"
               "min_count = 1\n[[layer]]\nsize = 16\n[[layer]]\nkind = \"dense\"\n");
    std::string table = "text,tag,g,when\n", text, groups, times;
    for (int i = 0; i < 48; ++i) {
      const char* const label = i % 4 == 0 ? "noise" : i % 4 == 1 ? "nature" : "music";
      table += fmt::format("violin {},{},g{},{}\n", i % 7, label, i % 12, i * 5 % 48);
      text += fmt::format("{}\tviolin {}\n", label, i % 7);
      groups += fmt::format("g{}\n", i % 12);
      times += fmt::format("{}\n", i * 5 % 48);
    }
    write_file(slide_.path("v.csv"), table);
    write_file(slide_.path("v.tsv"), text);
    write_file(slide_.path("g.txt"), groups);
    write_file(slide_.path("when.txt"), times);
  }
  Outcome run_with(std::vector<std::string> arguments, const std::string& data,
                   const std::vector<std::string>& sets) {
    arguments.insert(arguments.end(), {"--set", "data.train=" + data});
    for (const std::string& set : sets) arguments.insert(arguments.end(), {"--set", set});
    return slide_.run(arguments);
  }
  Outcome teach_with(const std::string& data, const std::vector<std::string>& sets,
                     const std::vector<std::string>& options = {}) {
    return run_with(Strings{"train", "v.toml", "--out", "run", "--force"} + options, data, sets);
  }
  nlohmann::json first_event() {
    const std::string log = read_file(slide_.path("run/metrics.jsonl"));
    return nlohmann::json::parse(log.substr(0, log.find('\n')));
  }
  std::string best_model() { return read_file(slide_.path("run/best-model.slide")); }
  void refused_line(const Outcome& outcome, const std::string& what) {
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_TRUE(contains(outcome.err, what));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  const std::vector<std::string> columns_ = {"data.text=text", "data.labels=tag"};
};

// By a column of numbers, a file of dates, and beside a share for validation.
TEST_F(ValidationKeysCliTest, SamplesFromATimeOnAreATest) {
  std::string dates;
  for (int i = 0; i < 48; ++i) dates += fmt::format("2024-{:02}-01\n", 1 + i % 12);
  write_file(slide_.path("dates.txt"), dates);
  std::vector<std::string> sets = columns_;
  sets.insert(sets.end(), {"data.time=when", "data.test_after=40"});
  ASSERT_EQ(teach_with("v.csv", sets).code, 0);
  EXPECT_EQ(first_event()["test_samples"], 8);
  EXPECT_EQ(first_event()["samples"].get<int>() + first_event()["validation_samples"].get<int>(), 40);
  ASSERT_EQ(
      teach_with("v.tsv", {"data.time=dates.txt", "data.test_after=2024-10-15", "data.validation=0"}).code,
      0);
  EXPECT_EQ(first_event()["test_samples"], 8);
  refused_line(teach_with("v.tsv", {"data.time=dates.txt", "data.test_after=2025-01-01"}),
               "no sample from that time on");
  refused_line(teach_with("v.tsv", {"data.time=dates.txt", "data.test_after=2023-01-01"}),
               "no sample before that time");
  refused_line(teach_with("v.tsv", {"data.time=dates.txt", "data.test_after=May"}),
               "is no date, as the times of");
  refused_line(teach_with("v.tsv", {"data.test_after=2025-01-01"}), "needs the times of samples");
}

TEST_F(ValidationKeysCliTest, TrainSaysHowItsPartWasChosen) {
  struct Case {
    std::vector<std::string> sets;
    std::string shown, by;
  };
  const std::vector<Case> cases = {
      {{}, "12 samples are held out for validation, 36 are left", "random"},
      {{"data.group=g.txt"}, "12 samples (whole groups) are held out for validation, 36 are left", "group"},
      {{"data.time=when.txt"}, "12 samples (the latest) are held out for validation, 36 are left", "time"},
      {{"data.time=order"},
       "12 samples (the last of the file) are held out for validation, 36 are left",
       "order"},
      {{"data.group=g.txt", "data.time=when.txt"},
       "12 samples (the latest groups) are held out",
       "group and time"},
      {{"data.group=g.txt", "data.time=order"},
       "12 samples (the last groups of the file) are held out",
       "group and order"}};
  for (const Case& one : cases) {
    const Outcome done = expect_done(teach_with("v.tsv", one.sets));
    EXPECT_TRUE(contains(done.out, one.shown));
    const nlohmann::json start = first_event();
    EXPECT_EQ(start.at("validation_by"), one.by);
    EXPECT_EQ(start.at("validation_samples"), 12);
  }
  ASSERT_EQ(teach_with("v.tsv", {"data.validation=0.0"}).code, 0);
  EXPECT_FALSE(first_event().contains("validation_by"));
  EXPECT_TRUE(contains(teach_with("v.tsv", {"data.validation=0.0", "data.group=g.txt"}).err,
                       "choose validation samples, but data.validation is not set"));
}

TEST_F(ValidationKeysCliTest, AColumnAndAFileComeToTheSameModelOnAnyNumberOfThreads) {
  std::vector<std::string> of_columns = columns_;
  of_columns.insert(of_columns.end(), {"data.group=g", "data.time=when"});
  ASSERT_EQ(teach_with("v.csv", of_columns).code, 0);
  const Outcome asked = slide_.run({"predict", "run", "-"}, "violin 1\nviolin 2\n");
  ASSERT_EQ(teach_with("v.tsv", {"data.group=g.txt", "data.time=when.txt"}, {"--threads", "3"}).code, 0);
  EXPECT_EQ(slide_.run({"predict", "run", "-"}, "violin 1\nviolin 2\n").out, asked.out);
  const std::string best = best_model();
  ASSERT_EQ(teach_with("v.tsv", {"data.group=g.txt", "data.time=when.txt"}, {"--threads", "1"}).code, 0);
  EXPECT_TRUE(best_model() == best);
}

TEST_F(ValidationKeysCliTest, TuneHoldsOutTheSameWayAndSaysSo) {
  const auto search = [&](const std::vector<std::string>& sets, const std::vector<std::string>& more) {
    return run_with(Strings{"tune", "v.toml", "--trials", "1", "--out", "tuned.toml"} + more, "v.tsv", sets);
  };
  const Outcome json = expect_done(search({"data.group=g.txt"}, {"--json"}));
  const std::size_t last = json.out.rfind('\n', json.out.size() - 2);
  const nlohmann::json result = nlohmann::json::parse(json.out.substr(last + 1));
  EXPECT_EQ(result.at("validation_by"), "group");
  EXPECT_EQ(result.at("splits"), 5);
  EXPECT_EQ(result.at("validation_samples"), 20) << "one of two groups of four in each";
  EXPECT_EQ(result.at("decision_samples"), 20);
  EXPECT_TRUE(contains(read_file(slide_.path("tuned.html")), "\"validation_by\":\"group\""));
  const Outcome shown = expect_done(search({"data.time=order"}, {}));
  EXPECT_TRUE(
      contains(shown.out, "1 trials on 41 samples, scored on 4 others (the last of the file); best is 1"));
  refused_line(search({"data.group=g.txt", "data.train_first=1"}, {}), "two samples with labels");
  refused_line(search({"data.group=none.txt"}, {}), "none.txt: no such file");
}

TEST_F(ValidationKeysCliTest, AreRefusedInOneLineWhereTheyDoNotFit) {
  refused_line(teach_with("v.tsv", {"data.group=none.txt"}), "none.txt: no such file");
  refused_line(teach_with("v.tsv", {"data.group=g.txt", "data.kind=interactions"}), "'data.group' = ");
  refused_line(teach_with("v.tsv", {"data.time=when.txt", "data.validation=v.tsv"}), "leave one out");
  refused_line(teach_with("v.tsv", {"data.group=g.txt"}, {"--skip-bad"}), "--skip-bad");
  refused_line(teach_with("v.tsv", {"data.group=g.txt", "data.validation=0.01"}),
               "the smallest of 12 groups alone has 4; raise data.validation");
  std::vector<std::string> of_columns = columns_;
  of_columns.push_back("data.group=source");
  refused_line(teach_with("v.csv", of_columns),
               "there is no column 'source', which data.group names; the columns are text, tag, g, when");
  write_file(slide_.path("g.txt"), "");
  refused_line(teach_with("v.tsv", {"data.group=g.txt"}), "g.txt:1: the groups end here, but");
  std::string same, mixed;
  for (int i = 0; i < 48; ++i) same += "x\n", mixed += i == 30 ? "2024-01-01\n" : "5\n";
  write_file(slide_.path("g.txt"), same);
  refused_line(teach_with("v.tsv", {"data.group=g.txt"}), "all 48 samples with labels are of one group");
  refused_line(teach_with("v.tsv", {"data.time=g.txt"}), "have the time 'x', so none is the latest");
  write_file(slide_.path("when.txt"), mixed);
  refused_line(teach_with("v.tsv", {"data.time=when.txt"}), "has the time '2024-01-01', but sample 1 '5'");
}

}  // namespace
}  // namespace slide::test

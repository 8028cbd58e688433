// Tests of reading runs from their folders for a report.
#include "engine/report/history.h"

#include <algorithm>

#include "engine/run/run_log.h"
#include "tests/report/runs_fixture.h"

namespace slide::report {
namespace {

using HistoryTest = RunsTest;

TEST_F(HistoryTest, ReadsARunFolder) {
  const RunHistory read = run("one", {kStart, epoch_line(1, 3.0, 100, 50), eval_line("validation", 1, 0.4),
                                      eval_line("eval", 1, 0.5), R"({"event":"later-version","x":1})"});
  EXPECT_EQ(read.state, RunState::kFinished);
  EXPECT_TRUE(read.notes.empty()) << read.notes.front();
  EXPECT_EQ(read.start["samples"], 10);
  EXPECT_EQ(read.epochs.size(), 1U);
  EXPECT_EQ(read.evals.size(), 1U);
  EXPECT_EQ(read.validations.size(), 1U);
  ASSERT_FALSE(read.settings.empty());
  EXPECT_NE(std::find(read.settings.begin(), read.settings.end(),
                      std::pair<std::string, std::string>("train.epochs", "2")),
            read.settings.end());
}

TEST_F(HistoryTest, ALogAloneIsARunOfUnknownState) {
  run("one", {kStart, epoch_line(1, 3.0, 100, 50)});
  EXPECT_EQ(read_run(path("one/metrics.jsonl")).state, RunState::kFinished);
  std::filesystem::copy_file(path("one/metrics.jsonl"), path("kept.jsonl"));
  const RunHistory alone = read_run(path("kept.jsonl"));
  EXPECT_EQ(alone.state, RunState::kUnknown);
  EXPECT_TRUE(alone.settings.empty());
}

TEST_F(HistoryTest, TellsRunningFromInterrupted) {
  EXPECT_EQ(run("one", {kStart}, false).state, RunState::kInterrupted);
  {
    RunLog log(path("one/metrics.jsonl"), {1}, 1U << 20);
    EXPECT_TRUE(RunLog::is_open(path("one/metrics.jsonl")));
    const RunHistory read = read_run(path("one"));
    EXPECT_EQ(read.state, RunState::kRunning);
    ASSERT_EQ(read.notes.size(), 2U);
    EXPECT_TRUE(contains(read.notes[0], "goes on"));
    EXPECT_TRUE(contains(read.notes[1], "No epoch"));
  }
  EXPECT_FALSE(RunLog::is_open(path("one/metrics.jsonl")));
  EXPECT_EQ(read_run(path("one")).state, RunState::kInterrupted);
}

TEST_F(HistoryTest, ACutLastLineIsLeftOutWithANote) {
  const std::string good = std::string(kStart) + '\n' + epoch_line(1, 3.0, 100, 50) + '\n';
  const std::string next = epoch_line(2, 6.0, 100, 50);
  for (std::size_t bytes = 0; bytes < next.size(); ++bytes) {
    write("cut.jsonl", good + next.substr(0, bytes));
    const RunHistory read = read_run(path("cut.jsonl"));
    EXPECT_EQ(read.epochs.size(), 1U);
    EXPECT_EQ(read.notes.size(), bytes == 0 ? 0U : 1U) << bytes;
  }
  write("cut.jsonl", good + next);  // complete except for its line end
  EXPECT_EQ(read_run(path("cut.jsonl")).epochs.size(), 2U);
}

TEST_F(HistoryTest, WhatIsNoLogIsRefused) {
  expect_refused(path("none"), "none: there is no such run");
  std::filesystem::create_directories(path("empty"));
  expect_refused(path("empty"), "empty: the folder has no metrics.jsonl");
  write("bad.jsonl", std::string(kStart) + "\n{\"event\":\n" + kStart + "\n");
  expect_refused(path("bad.jsonl"), "bad.jsonl:2: this line is no event");
  write("bad.jsonl", "[1]\n");
  expect_refused(path("bad.jsonl"), "bad.jsonl:1: this line is no event");
  write("bad.jsonl", "{\"event\":\"epoch\",\"epoch\":1,\"loss\":\"low\",\"train_seconds\":1}\n");
  expect_refused(path("bad.jsonl"), "bad.jsonl:1: the event \"epoch\" has no number 'loss'");
  write("bad.jsonl", "{\"event\":\"eval\",\"epoch\":1,\"train_seconds\":1}\n");
  expect_refused(path("bad.jsonl"), "no number 'eval_seconds'");
  write("bad.jsonl", "{\"event\":\"tables\",\"epoch\":1,\"layer\":1,\"buckets\":8}\n");
  expect_refused(path("bad.jsonl"), "no histogram");
}

TEST_F(HistoryTest, ADamagedConfigurationLeavesTheRest) {
  run("one", {kStart, epoch_line(1, 3.0, 100, 50)});
  write("one/config.toml", "[train]\nepoch = 2\n");
  const RunHistory read = read_run(path("one"));
  EXPECT_EQ(read.epochs.size(), 1U);
  ASSERT_EQ(read.notes.size(), 1U);
  EXPECT_TRUE(contains(read.notes[0], "settings are not compared"));
}

TEST_F(HistoryTest, TellsTheDateAndTheSizeOfTheModel) {
  run("one", {kStart});
  write("one/model.slide", std::string(1U << 19, 'x'));
  const RunHistory by_the_log = read_run(path("one"));
  EXPECT_EQ(by_the_log.model_mb, 0.5);
  EXPECT_TRUE(by_the_log.date.starts_with("20") && by_the_log.date.ends_with("Z")) << by_the_log.date;
  write("one/environment.json", R"({"finished":true,"date":"2031-02-03T04:05:06Z"})");
  EXPECT_EQ(read_run(path("one")).date, "2031-02-03T04:05:06Z");
}

TEST_F(HistoryTest, SummaryByHand) {
  const RunHistory read =
      run("one", {kStart, epoch_line(1, 3.5, 100, 50), eval_line("validation", 1, 0.7),
                  eval_line("eval", 1, 0.4), epoch_line(2, 4.0, 300, 60), eval_line("validation", 2, 0.8),
                  eval_line("eval", 2, 0.5), epoch_line(3, 4.5, 200, 60)});
  const Json summary = summary_of(read);
  EXPECT_EQ(summary["measured"], "test");
  EXPECT_EQ(summary["epoch"], 2);
  EXPECT_EQ(summary["measures"], (Json{{"p_at_1", 0.5}}));
  EXPECT_EQ(summary["train_seconds"], 4.5);
  EXPECT_EQ(summary["samples_per_second"], 200.0);
  EXPECT_EQ(summary["peak_rss_mb"], 60.0);
  EXPECT_EQ(summary["seconds"]["update"], 0.6);
  EXPECT_NEAR(summary["seconds"]["other"].get<double>(), 4.5 - 2.8, 1e-12);
  EXPECT_EQ(summary["seconds"]["evaluation"], 1.0);
}

TEST_F(HistoryTest, WhatProcessesToldEachOtherIsThatOfTheLastEpoch) {
  const auto line = [](int epoch, double seconds, int bytes) {
    std::string text = epoch_line(epoch, seconds, 100, 50);
    text.pop_back();
    return text + fmt::format(R"(,"ranks":4,"bytes_sent":{},"messages":7,"seconds_waited":0.5}})", bytes);
  };
  const Json summary = summary_of(run("several", {kStart, line(1, 3.5, 1000), line(2, 4.0, 2500)}));
  EXPECT_EQ(summary["ranks"], 4);
  EXPECT_EQ(summary["bytes_sent"], 2500);
  EXPECT_EQ(summary["seconds_waited"], 0.5);
}

TEST_F(HistoryTest, WhatARunDoesNotTellIsMissing) {
  EXPECT_EQ(summary_of(run("empty", {kStart})), Json::object());
  const Json validated = summary_of(run("validated", {eval_line("validation", 1, 0.7)}));
  EXPECT_EQ(validated["measured"], "validation");
  EXPECT_EQ(validated["measures"]["p_at_1"], 0.7);
  const RunHistory old =
      run("old", {R"({"event":"epoch","epoch":1,"loss":1,"train_seconds":2,"rehash_seconds":1})"});
  EXPECT_EQ(summary_of(old), (Json{{"train_seconds", 2}}));
  ASSERT_EQ(old.notes.size(), 1U);
  EXPECT_TRUE(contains(old.notes[0], "older version"));
}

}  // namespace
}  // namespace slide::report

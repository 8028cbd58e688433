// Runs as a report reads them from their folders, and what it says about several.
#include "engine/report/history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "engine/config/config.h"
#include "engine/run/run_log.h"

namespace slide::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kStart = R"({"event":"start","samples":10,"load_seconds":0.5})";
constexpr const char* kConfig = "[train]\nepochs = {}\n[[layer]]\nsize = 8\n[[layer]]\n";

std::string epoch_line(int epoch, double seconds, double speed, double memory) {
  return fmt::format(
      R"({{"event":"epoch","epoch":{},"samples":{},"loss":1.5,"train_seconds":{},"setup_seconds":0.1,)"
      R"("data_seconds":0.2,"hashing_seconds":0.3,"forward_seconds":0.4,"backward_seconds":0.5,"update_seconds":0.6,)"
      R"("rehash_seconds":0.7,"samples_per_second":{},"peak_rss_mb":{}}})",
      epoch, 10 * epoch, seconds, speed, memory);
}

std::string eval_line(const char* event, int epoch, double precision) {
  return fmt::format(
      R"({{"event":"{}","epoch":{},"train_seconds":1.0,"eval_seconds":0.25,"p_at_1":{},"best":true}})", event,
      epoch, precision);
}

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() : folder_(fs::temp_directory_path() / fmt::format("slide-history-{}", getpid())) {
    fs::create_directories(folder_);
  }
  ~HistoryTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // As a run stores it: with every key.
  static std::string stored(const std::string& config) { return to_toml(parse_config(config, "test")); }
  // A finished run with these lines.
  RunHistory run(const std::string& name, const std::vector<std::string>& lines, bool finished = true) const {
    std::string log;
    for (const std::string& line : lines) log += line + '\n';
    write(name + "/metrics.jsonl", log);
    write(name + "/environment.json", fmt::format(R"({{"finished":{}}})", finished));
    write(name + "/config.toml", stored(fmt::format(kConfig, 2)));
    return read_run(path(name));
  }
  void expect_refused(const std::string& at, const std::string& what) const {
    try {
      read_run(at);
      ADD_FAILURE() << at << " was read";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  }

  fs::path folder_;
};

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
  fs::copy_file(path("one/metrics.jsonl"), path("kept.jsonl"));
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
    EXPECT_NE(read.notes[0].find("goes on"), std::string::npos);
    EXPECT_NE(read.notes[1].find("No epoch"), std::string::npos);
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
  write("cut.jsonl", good + next);  // whole but for its end of line
  EXPECT_EQ(read_run(path("cut.jsonl")).epochs.size(), 2U);
}

TEST_F(HistoryTest, WhatIsNoLogIsRefused) {
  expect_refused(path("none"), "none: there is no such run");
  fs::create_directories(path("empty"));
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
  EXPECT_NE(read.notes[0].find("settings are not compared"), std::string::npos);
}

TEST_F(HistoryTest, RunsOfOneNameGetAsMuchOfTheirPathAsTellsThemApart) {
  std::vector<RunHistory> runs;
  for (const char* name : {"a/x/run", "b/x/run", "c/run", "other"}) runs.push_back(run(name, {kStart}));
  name_runs(runs);
  std::vector<std::string> names;
  for (const RunHistory& each : runs) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a/x/run", "b/x/run", "c/run", "other"}));
}

TEST_F(HistoryTest, ARunGivenTwiceIsListedOnce) {
  run("a", {kStart});
  run("b", {kStart});
  const Json data = report_data({read_run(path("a")), read_run(path("b")), read_run(path("b/../a")),
                                 read_run(path("a/metrics.jsonl"))});
  ASSERT_EQ(data["runs"].size(), 2U);
  EXPECT_EQ(data["runs"][0]["name"], "a");
  EXPECT_EQ(data["runs"][1]["name"], "b");
}

TEST_F(HistoryTest, MeasuresOfOtherDataStandApart) {
  const auto start = [](const char* train, const char* test, int samples) {
    return fmt::format(R"({{"event":"start","samples":{},"test_samples":5,"labels":3,)"
                       R"("label_checksums":{{"train":"{}","test":"{}"}}}})",
                       samples, train, test);
  };
  const std::string eval = eval_line("eval", 1, 0.5), held = eval_line("validation", 1, 0.5);
  std::vector<RunHistory> runs = {
      run("base", {start("aa", "bb", 10), eval}),  run("again", {start("aa", "bb", 9), held, eval}),
      run("train", {start("cc", "bb", 10), eval}), run("test", {start("aa", "dd", 10), eval}),
      run("held", {start("aa", "bb", 10), held}),  run("begun", {start("aa", "bb", 10)})};
  runs.push_back(run("seed", {start("aa", "bb", 10), held}));
  for (auto& [key, value] : runs.back().settings) value = key == "train.seed" ? "77" : value;
  const RunGroups groups = group_runs(runs);
  EXPECT_EQ(groups.of, (std::vector<std::size_t>{0, 0, 1, 2, 3, 0, 4}));
  ASSERT_EQ(groups.titles.size(), 5U);
  EXPECT_EQ(groups.titles[0], "training data (10 samples), measured on test data (5 samples)");
  EXPECT_EQ(groups.titles[3], "training data (10 samples), measured on validation samples held out of it");
  // Logs without checksums: by the numbers; those that tell nothing do not differ.
  const auto counted = [](int samples) {
    return fmt::format(R"({{"event":"start","samples":{}}})", samples);
  };
  const std::vector<RunHistory> old = {run("x", {counted(10), eval}), run("y", {counted(11), eval}),
                                       run("z", {eval})};
  EXPECT_EQ(group_runs(old).of, (std::vector<std::size_t>{0, 1, 0}));
}

TEST_F(HistoryTest, OnlySettingsThatDifferAreTold) {
  std::vector<RunHistory> runs = {run("a", {kStart}), run("b", {kStart}), run("c", {kStart})};
  EXPECT_TRUE(differing_settings(runs).empty());
  write("b/config.toml",
        stored("[train]\nepochs = 7\n[[layer]]\nsize = 8\n[[layer]]\nsize = 8\n[[layer]]\n"));
  runs[1] = read_run(path("b"));
  runs[2].settings.clear();  // not known, so not different
  const Json differences = differing_settings(runs);
  ASSERT_FALSE(differences.empty());
  EXPECT_EQ(differences[0], (Json{{"key", "train.epochs"}, {"values", {"2", "7", nullptr}}}));
  const auto third = std::find_if(differences.begin(), differences.end(),
                                  [](const Json& difference) { return difference["key"] == "layer.2.size"; });
  ASSERT_NE(third, differences.end());
  EXPECT_EQ((*third)["values"], (Json{nullptr, "0", nullptr}));
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
  EXPECT_NE(old.notes[0].find("older version"), std::string::npos);
}

}  // namespace
}  // namespace slide::report

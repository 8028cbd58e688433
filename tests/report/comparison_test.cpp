// Tests of the comparison of several runs in a report.
#include "engine/report/comparison.h"

#include <algorithm>

#include "tests/report/runs_fixture.h"

namespace slide::report {
namespace {

using ComparisonTest = RunsTest;

TEST_F(ComparisonTest, RunsOfOneNameGetAsMuchOfTheirPathAsTellsThemApart) {
  std::vector<RunHistory> runs;
  for (const char* name : {"a/x/run", "b/x/run", "c/run", "other"}) runs.push_back(run(name, {kStart}));
  name_runs(runs);
  std::vector<std::string> names;
  for (const RunHistory& each : runs) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a/x/run", "b/x/run", "c/run", "other"}));
}

TEST_F(ComparisonTest, ARunGivenTwiceIsListedOnce) {
  run("a", {kStart});
  run("b", {kStart});
  const Json data = report_data({read_run(path("a")), read_run(path("b")), read_run(path("b/../a")),
                                 read_run(path("a/metrics.jsonl"))});
  ASSERT_EQ(data["runs"].size(), 2U);
  EXPECT_EQ(data["runs"][0]["name"], "a");
  EXPECT_EQ(data["runs"][1]["name"], "b");
}

TEST_F(ComparisonTest, MeasuresOfOtherDataStandApart) {
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
  const auto groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 2U);
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(groups[0].title, "training data (10 samples)");
  EXPECT_EQ(groups[0].runs, (Numbers{0, 1, 3, 4, 5, 6}));
  EXPECT_EQ(groups[1].runs, Numbers{2});
  ASSERT_EQ(groups[0].splits.size(), 4U);  // two test files, then two random validation splits
  EXPECT_EQ(groups[0].splits[0].title, "test data (5 samples)");
  EXPECT_EQ(groups[0].splits[0].runs, (Numbers{0, 1}));
  EXPECT_EQ(groups[0].splits[1].runs, Numbers{3});
  EXPECT_FALSE(groups[0].splits[2].is_test);
  EXPECT_EQ(groups[0].splits[2].runs, (Numbers{1, 4})) << "tested, too";
  EXPECT_EQ(groups[0].splits[3].runs, Numbers{6});
  EXPECT_EQ(groups[0].splits[2].title, "validation samples held out of it (0.0, seed 1)");
  const auto titles = titles_of(groups);
  ASSERT_EQ(titles.size(), 5U);
  EXPECT_EQ(titles[4], "training data (10 samples), measured on test data (5 samples)");
}

TEST_F(ComparisonTest, OtherGroupsAndTimesAreOtherValidationSamples) {
  const auto held = [&](const std::string& name, const std::string& by,
                        const std::map<std::string, std::string>& settings) {
    RunHistory one = run(name, {fmt::format(R"({{"event":"start","samples":10,"validation_by":"{}"}})", by),
                                eval_line("validation", 1, 0.5)});
    for (auto& [key, value] : one.settings) {
      if (settings.contains(key)) value = settings.at(key);
    }
    return one;
  };
  const std::string file = "\"g.txt\"";
  const std::vector<RunHistory> runs = {
      held("drawn", "random", {}), held("grouped", "group", {{"data.group", file}}),
      held("seed", "group", {{"data.group", file}, {"train.seed", "2"}}),
      held("later", "time", {{"data.time", file}}),
      held("later-seed", "time", {{"data.time", file}, {"train.seed", "2"}})};
  const auto groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 1U);
  std::vector<std::string> titles;
  for (const SplitGroup& split : groups[0].splits) titles.push_back(split.title);
  const std::string held_out = "validation samples held out of it (0.0";
  EXPECT_EQ(titles, (std::vector<std::string>{held_out + ", seed 1)", held_out + " by group, seed 1)",
                                              held_out + " by group, seed 2)", held_out + " by time)"}));
  EXPECT_EQ(groups[0].splits[3].runs, (std::vector<std::size_t>{3, 4})) << "nothing is drawn";
}

TEST_F(ComparisonTest, LogsWithoutChecksumsAreToldApartByTheirNumbers) {
  const auto counted = [](int samples) {
    return fmt::format(R"({{"event":"start","samples":{}}})", samples);
  };
  const std::string eval = eval_line("eval", 1, 0.5);
  const std::vector<RunHistory> old = {run("x", {counted(10), eval}), run("y", {counted(11), eval}),
                                       run("z", {eval})};
  const auto groups = group_runs(old);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].runs, (std::vector<std::size_t>{0, 2})) << "a log that tells nothing does not differ";
}

TEST_F(ComparisonTest, OneTitleWhereAllCompare) {
  const std::vector<RunHistory> runs = {
      run("a", {kStart, eval_line("validation", 1, 0.4), eval_line("eval", 1, 0.5)}),
      run("b", {kStart, eval_line("eval", 1, 0.5)}), run("c", {kStart})};
  EXPECT_EQ(titles_of(group_runs(runs)),
            std::vector<std::string>{"training data (10 samples), measured on test data"});
  EXPECT_EQ(titles_of(group_runs(std::vector<RunHistory>{runs[2]})),
            std::vector<std::string>{"training data (10 samples), not measured"});
}

TEST_F(ComparisonTest, RunsThatDifferInTheirSeedAloneAreOne) {
  std::vector<RunHistory> runs;
  const auto add = [&](const std::string& name, const char* seed, const char* epochs) {
    runs.push_back(run(name, {kStart}));
    for (auto& [key, value] : runs.back().settings) {
      if (key == "train.seed") value = seed;
      if (key == "train.epochs") value = epochs;
    }
  };
  add("net-seed1", "1", "2");
  add("long", "1", "9");
  add("net-seed2", "2", "2");
  runs.back().settings.emplace_back("train.tensorboard", "true");  // an output
  add("net-again", "2", "2");
  runs.push_back(run("unknown", {kStart}));
  runs.back().settings.clear();
  name_runs(runs);
  const auto lines = seed_groups(runs, group_runs(runs));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].name, "net (2 seeds)");
  EXPECT_EQ(lines[0].runs, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(lines[1].name, "long");
  EXPECT_EQ(lines[2].name, "net-again") << "the same seed again is no other draw";
  EXPECT_EQ(lines[3].name, "unknown");
  runs[2].environment["threads"] = 64;
  EXPECT_EQ(seed_groups(runs, group_runs(runs))[0].runs, (std::vector<std::size_t>{0, 3}))
      << "the other seed on the same kind of machine";
}

TEST_F(ComparisonTest, OnlySettingsThatDifferAreTold) {
  std::vector<RunHistory> runs = {run("a", {kStart}), run("b", {kStart}), run("c", {kStart})};
  EXPECT_TRUE(differing_settings(runs).empty());
  write("b/config.toml",
        stored("[train]\nepochs = 7\n[[layer]]\nsize = 8\n[[layer]]\nsize = 8\n[[layer]]\n"));
  runs[1] = read_run(path("b"));
  runs[2].settings.clear();  // unknown, so not different
  const Json differences = differing_settings(runs);
  ASSERT_FALSE(differences.empty());
  EXPECT_EQ(differences[0], (Json{{"key", "train.epochs"}, {"values", {"2", "7", nullptr}}}));
  const auto third = std::find_if(differences.begin(), differences.end(),
                                  [](const Json& difference) { return difference["key"] == "layer.2.size"; });
  ASSERT_NE(third, differences.end());
  EXPECT_EQ((*third)["values"], (Json{nullptr, "0", nullptr}));
}

TEST_F(ComparisonTest, SettingsOfOutputsAreToldLast) {
  std::vector<RunHistory> runs = {run("a", {kStart}), run("b", {kStart})};
  write("b/config.toml", stored("[data]\ncache = true\n[train]\nepochs = 7\ntensorboard = true\n"
                                "[optimizer]\nlearning_rate = 0.5\n"));
  runs[1] = read_run(path("b"));
  std::vector<std::string> keys;
  for (const Json& difference : differing_settings(runs)) keys.push_back(difference["key"]);
  ASSERT_GE(keys.size(), 4U);
  EXPECT_EQ(keys.front(), "train.epochs");
  EXPECT_EQ(keys[keys.size() - 2], "data.cache");
  EXPECT_EQ(keys.back(), "train.tensorboard");
}

}  // namespace
}  // namespace slide::report

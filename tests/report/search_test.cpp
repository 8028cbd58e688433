// Tests of the page about a search and its trials.
#include "engine/report/search.h"

#include <gtest/gtest.h>

namespace slide::report {
namespace {

using Json = nlohmann::ordered_json;

Trial trial(std::uint32_t number, std::uint32_t from, std::vector<std::string> changes, double score,
            bool is_best) {
  Trial made;
  made.number = number;
  made.from = from;
  made.stage = number == 1 ? TrialStage::kStart : TrialStage::kSweep;
  made.changes = std::move(changes);
  made.score = score;
  made.is_best = is_best;
  made.ended = number;
  return made;
}

// Trials by hand: two with one key each, one with both, one that was stopped.
SearchHistory small_search() {
  SearchHistory search;
  search.name = "small";
  search.result.start = parse_config("[[layer]]\nsize = 8\n[[layer]]\n", "test");
  search.trials = {trial(1, 0, {}, 0.5, true), trial(2, 1, {"train.epochs=3"}, 0.4, false),
                   trial(3, 1, {"layer.0.size=64"}, 0.75, true),
                   trial(4, 3, {"data.idf_power=1.0", "layer.0.size=64", "train.epochs=3"}, 0.8, true),
                   trial(5, 4, {"data.idf_power=1.0", "layer.0.size=64"}, 0.0, false)};
  search.trials[1].gain = -0.1;
  search.trials[2].gain = 0.25;
  search.trials[4].within = false;
  search.trials[4].stopped = true;
  search.result.best = search.trials[3];
  search.result.leader = search.result.best.number;
  return search;
}

TEST(SearchData, TellsWhatWasKept) {
  const Json data = search_data(small_search());
  EXPECT_EQ(data["best"], 4);
  EXPECT_EQ(data["kept"], (Json{{{"key", "data.idf_power"}, {"start", "0.0"}, {"value", "1.0"}},
                                {{"key", "layer.0.size"}, {"start", "8"}, {"value", "64"}},
                                {{"key", "train.epochs"}, {"start", "7"}, {"value", "3"}}}));
  EXPECT_EQ(data["trials"].size(), 5U);
  EXPECT_EQ(data["trials"][4]["state"], "stopped");
  EXPECT_EQ(data["trials"][1]["state"], "scored");
  EXPECT_EQ(data["trials"][1]["stage"], "sweep");
  EXPECT_FALSE(data.contains("limit"));
}

TEST(SearchData, WhatMatteredIsWhatChangedAlone) {
  const Json keys = search_data(small_search())["keys"];
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0]["key"], "layer.0.size");  // the largest change first
  EXPECT_EQ(keys[0]["alone"], (Json::array({{{"trial", 3}, {"from", "8"}, {"to", "64"}, {"change", 0.25}}})));
  EXPECT_EQ(keys[1]["key"], "train.epochs");
  ASSERT_EQ(keys[1]["alone"].size(), 1U);
  EXPECT_LT(keys[1]["alone"][0]["change"].get<double>(), 0.0);
  EXPECT_EQ(keys[2]["key"], "data.idf_power");
  EXPECT_TRUE(keys[2]["alone"].empty()) << "it changed with another, or the trial was stopped";
}

TEST(SearchData, ValuesHaveTheirBestScore) {
  const Json keys = search_data(small_search())["keys"];
  EXPECT_EQ(keys[1]["values"], (Json{{{"value", "7"}, {"trials", 2}, {"best", 0.75}},
                                     {{"value", "3"}, {"trials", 2}, {"best", 0.8}}}));
}

// The page places trials that do not change a key at its first value, also where the start has no score.
TEST(SearchData, KeysTellWhereTheSearchBegan) {
  SearchHistory search = small_search();
  search.trials[0].within = false;
  search.trials[2].within = false;
  const Json keys = search_data(search)["keys"];
  for (const Json& key : keys) {
    if (key["key"] != "train.epochs") continue;
    EXPECT_EQ(key["start"], "7");
    ASSERT_EQ(key["values"].size(), 1U);
    EXPECT_EQ(key["values"][0]["value"], "3") << "of scored trials alone";
    return;
  }
  ADD_FAILURE() << "no train.epochs";
}

}  // namespace
}  // namespace slide::report

// Other votes of neighbours that a search tries beside each trial, without training.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "engine/training/search_space.h"
#include "tests/training/tune_fixture.h"

namespace slide::test {
namespace {

std::vector<Trial> trials_of(const Config& config, const TuneOptions& options) {
  std::vector<Trial> trials;
  tune(config, small_data(), options, [&](const Trial& trial) { trials.push_back(trial); });
  return trials;
}

// Votes act in prediction alone: training with them from the beginning scores the same to the bit.
TEST(TuneVotes, OtherVotesScoreAsIfTrainedWithThem) {
  const std::vector<Trial> trials = trials_of(small_config(), {600.0, 12, {}});
  const auto votes = std::find_if(trials.begin(), trials.end(),
                                  [](const Trial& trial) { return trial.stage == TrialStage::kVotes; });
  ASSERT_NE(votes, trials.end()) << "no votes were better";
  EXPECT_EQ(votes->train_seconds, 0.0);
  EXPECT_GT(votes->gain, 0.0);
  const Config with = parse_config(to_toml(small_config()), "x", votes->changes);
  std::vector<Trial> alone;
  tune(with, small_data(), {600.0, 1, {}}, [&](const Trial& trial) { alone.push_back(trial); });
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].score, votes->score);
  EXPECT_EQ(alone[0].precision, votes->precision);
}

TEST(TuneVotes, FixedVotesStayAsTheyAre) {
  for (const Trial& trial :
       trials_of(small_config(), {600.0, 12, {"neighbours.share=0", "neighbours.power=4"}})) {
    EXPECT_NE(trial.stage, TrialStage::kVotes);
    for (const std::string& change : trial.changes) EXPECT_EQ(change.find("neighbours."), std::string::npos);
  }
}

}  // namespace
}  // namespace slide::test

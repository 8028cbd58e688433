// Tests of kNN parameters that a search evaluates for each trial without training.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "engine/training/search_space.h"
#include "tests/expect.h"
#include "tests/training/tune_fixture.h"

namespace slide::test {
namespace {

// Votes affect only prediction: training with other votes from the beginning gives bitwise equal scores.
TEST(TuneVotes, OtherVotesScoreAsIfTrainedWithThem) {
  const std::vector<Trial> trials = trials_from(small_config(), {600.0, 12, {}});
  const auto votes = std::find_if(trials.begin(), trials.end(),
                                  [](const Trial& trial) { return trial.stage == TrialStage::kKnnMix; });
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

// All keys of a search except the votes.
std::vector<std::string> all_but_votes(const Config& config) {
  std::vector<std::string> fixed;
  const SearchSpace space(config, {});
  for (const SearchKey& key : space.keys()) {
    if (!key.key.starts_with("neighbours.")) fixed.push_back(key.key + "=" + value_of(config, key.key));
  }
  return fixed;
}

Config voting_config() {
  Config config = small_config();
  config.neighbours.share = 0.1;
  config.neighbours.power = 2.0;
  return config;
}

// Share and power change together, although each is tried separately, except for the first trial.
TEST(TuneVotes, VotesAreSearchedJointly) {
  const Config config = voting_config();
  const std::vector<Trial> trials = trials_from(config, {600.0, 100, all_but_votes(config)});
  ASSERT_EQ(trials.size(), 2u) << "nothing is left to train";
  std::map<double, std::string> by_score;
  for (const char* share : {"0.0", "0.1", "0.25", "0.4", "0.55", "0.7"}) {
    for (const char* power : {"2.0", "3.0", "4.0", "6.0", "10.0"}) {
      const std::vector<std::string> sets = {std::string("neighbours.power=") + power,
                                             std::string("neighbours.share=") + share};
      const Config alone = parse_config(to_toml(config), "x", sets);
      by_score[tune(alone, small_data(), {600.0, 1, {}}, {}).best.score] = joined(sets);
    }
  }
  EXPECT_EQ(trials[1].score, by_score.rbegin()->first);
  EXPECT_EQ(trials[1].changes.size(), 2u) << "one key alone is best: " << by_score.rbegin()->second;
}

// Shared features of neighbours are independent of the label.
Dataset misleading_data() {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < 300; ++i)
    samples.push_back({{{i % 8, 0.3F}, {8 + i * 7919 % 211, 1.0F}}, {i % 8}});
  return dataset_of(samples, 8 + 211, 8);
}

// Label texts need votes, a linear term or a weight.
TEST(TuneVotes, ThoseThatDoNotGoWithOtherKeysAreLeftOut) {
  Config config = small_config();
  config.layers.back().kind = LayerKind::kDense;
  config.optimizer.learning_rate = 0.1;
  config.train.epochs = 20;
  config.neighbours.share = 0.7;
  config.neighbours.count = 1;
  config.neighbours.learn = false;  // otherwise it would learn that they are uninformative
  TuneOptions options{600.0, 2, all_but_votes(config)};
  options.fixed.push_back("neighbours.power=2");
  const auto best = [&] { return joined(tune(config, misleading_data(), options, {}).best.changes); };
  EXPECT_EQ(best(), "neighbours.share=0.0");
  config.data.label_text = "names.txt";
  EXPECT_EQ(best(), "neighbours.share=0.1");
}

// The search may end between two votes: the trial counts, unevaluated votes do not.
TEST(TuneVotes, VotesAreEndedBetweenTwo) {
  const Config config = voting_config();
  const auto asked = [&](std::vector<std::string> fixed, std::size_t most, std::uint32_t& trials) {
    std::size_t calls = 0;
    TuneOptions options{600.0, 100, std::move(fixed)};
    options.go_on = [&] { return ++calls <= most; };
    trials = tune(config, small_data(), options, {}).trials;
    return calls;
  };
  const std::vector<std::string> fixed = all_but_votes(config);
  std::uint32_t trials = 0;
  const std::size_t with = asked(fixed, 1000000, trials);
  EXPECT_EQ(trials, 2u);
  TuneOptions one{600.0, 1, fixed};  // leaves no room for other votes
  std::size_t steps = 0;
  one.go_on = [&] { return ++steps > 0; };
  tune(config, small_data(), one, {});
  ASSERT_GT(with, steps);
  const std::size_t of_fold = (with - steps) / 5;
  EXPECT_EQ(with, steps + 5 * of_fold);
  EXPECT_EQ(asked(fixed, with - of_fold, trials), with - of_fold + 1) << "asked on after the end";
  EXPECT_EQ(trials, 1u) << "no vote was measured on all splits";
}

TEST(TuneVotes, FixedVotesStayAsTheyAre) {
  for (const Trial& trial :
       trials_from(small_config(), {600.0, 12, {"neighbours.share=0", "neighbours.power=4"}})) {
    EXPECT_NE(trial.stage, TrialStage::kKnnMix);
    for (const std::string& change : trial.changes) EXPECT_FALSE(contains(change, "neighbours."));
  }
}

// A key continues in its direction where it improved only together with other votes.
TEST(TuneVotes, AStepThatWinsByItsVotesContinues) {
  std::size_t won = 0;
  for (const std::uint64_t seed : {1, 5}) {
    Config config = voting_config();
    config.train.seed = seed;
    const SearchSpace space(config, {});
    const std::vector<Trial> trials = trials_from(config, {600.0, 24, {}});
    for (std::size_t i = 0; i + 2 < trials.size(); ++i) {
      const Trial &step = trials[i], &votes = trials[i + 1], &next = trials[i + 2];
      if (step.stage != TrialStage::kSweep || step.is_best || votes.stage != TrialStage::kKnnMix) continue;
      if (!votes.is_best || next.stage != TrialStage::kSweep) continue;
      const auto value = [&](const Trial& trial, const SearchKey& key) {
        return value_of(parse_config(to_toml(config), "x", trial.changes), key.key);
      };
      const Trial& before = trials[step.from - 1];
      for (const SearchKey& key : space.keys()) {
        const auto at = [&](const Trial& trial) {
          return std::find(key.values.begin(), key.values.end(), value(trial, key)) - key.values.begin();
        };
        const auto from = at(before), to = at(step);
        if (from == to || key.key.starts_with("neighbours.")) continue;
        if (to == 0 || to + 1 == std::ssize(key.values)) continue;  // the end of its values
        ++won;
        EXPECT_EQ(at(next), to + (to > from ? 1 : -1)) << seed << ", trial " << next.number;
      }
    }
  }
  EXPECT_GT(won, 0u) << "no step won by its votes";
}

}  // namespace
}  // namespace slide::test

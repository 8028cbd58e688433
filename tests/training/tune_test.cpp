// Tests of the configuration search.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/training/proposals.h"
#include "engine/training/search_space.h"
#include "tests/expect.h"
#include "tests/training/tune_fixture.h"

namespace slide::test {
namespace {

std::vector<Trial> trials_of(const TuneOptions& options, TuneResult* result = nullptr) {
  std::vector<Trial> trials;
  TuneResult done = tune(small_config(), small_data(), options, [&](const Trial& t) { trials.push_back(t); });
  EXPECT_EQ(done.trials, trials.size());
  if (result != nullptr) *result = done;
  return trials;
}

bool scored(const Trial& trial) {
  return trial.within && !trial.pruned && !trial.diverged;
}

TEST(Tune, BeginsWithTheConfigurationAndKeepsTheBest) {
  TuneResult result;
  const auto trials = trials_of({600.0, 12, {}}, &result);
  ASSERT_EQ(trials.size(), 12u);
  EXPECT_TRUE(trials[0].changes.empty());
  EXPECT_TRUE(trials[0].is_best);
  double best = -1.0;
  for (const Trial& trial : trials) {
    EXPECT_EQ(trial.is_best, trial.score > best);
    EXPECT_EQ(trial.precision.empty(), !scored(trial)) << trial.number;
    best = std::max(best, trial.score);
  }
  EXPECT_EQ(result.best.score, best);
  EXPECT_GT(best, trials[0].score);  // the start configuration hardly learns
  EXPECT_EQ(result.folds, 5u);       // 300 samples are few
  EXPECT_EQ(result.train_samples, 255u);
  EXPECT_EQ(result.validation_samples, 5 * 23u);
  EXPECT_EQ(result.decision_samples, 5 * 22u);
  ASSERT_TRUE(result.gain);
  EXPECT_GT(result.gain->value, 0.0);
  EXPECT_LE(result.gain->p, 0.05);
  EXPECT_TRUE(result.best.taken);
  EXPECT_EQ(to_toml(result.config), to_toml(parse_config(to_toml(small_config()), "x", result.best.changes)));
}

// Labels that no feature tells of: some trial has the highest score, and the start stays.
TEST(Tune, AGainByChanceIsNotTaken) {
  std::vector<Sample> samples;
  Rng rng(7, Purpose::kTest);
  for (std::uint32_t i = 0; i < 400; ++i) samples.push_back({{{rng.below(60), 1.0F}}, {rng.below(4)}});
  const Dataset noise = dataset_of(samples, 60, 4);
  std::size_t led = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Config config = small_config();
    config.train.seed = seed;
    std::vector<Trial> trials;
    const TuneResult result =
        tune(config, noise, {600.0, 12, {}}, [&](const Trial& trial) { trials.push_back(trial); });
    led += result.leader != 1 ? 1 : 0;
    EXPECT_EQ(result.best.number, 1u) << seed;
    EXPECT_EQ(to_toml(result.config), to_toml(config)) << seed;
    for (const Trial& trial : trials) EXPECT_EQ(trial.taken, trial.number == 1) << trial.number;
  }
  EXPECT_GT(led, 0u) << "no trial had a higher score than the start";
}

TEST(Tune, TheSameSeedGivesTheSameTrialsOnAnyNumberOfThreads) {
  const auto with_threads = [](std::uint32_t threads) {
    Config config = small_config();
    config.train.threads = threads;
    std::vector<Trial> trials;
    tune(config, small_data(), {600.0, 9, {}}, [&](const Trial& trial) { trials.push_back(trial); });
    return trials;
  };
  const auto first = with_threads(1);
  for (const std::uint32_t threads : {2u, 3u}) {
    const auto again = with_threads(threads);
    ASSERT_EQ(first.size(), again.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].changes, again[i].changes);
      EXPECT_EQ(first[i].score, again[i].score);
      EXPECT_EQ(first[i].rungs, again[i].rungs);
      EXPECT_EQ(first[i].pruned, again[i].pruned);
    }
  }
}

// Only trials that are behind are pruned, judged by their intermediate scores.
TEST(Tune, WhatIsBehindIsDropped) {
  const auto trials = trials_of({600.0, 20, {}});
  std::size_t dropped = 0;
  double best = 0.0;
  for (const Trial& trial : trials) {
    if (trial.pruned) {
      ++dropped;
      EXPECT_LT(trial.gain, 0.0);
      EXPECT_LT(trial.rungs.size(), 5u);
      EXPECT_EQ(trial.score, 0.0);
    } else if (trial.number > 1) {
      EXPECT_EQ(trial.rungs.size(), 5u) << trial.number;
    }
    best = std::max(best, trial.score);
  }
  EXPECT_GT(dropped, 0u);
}

TEST(Tune, FixedKeysKeepTheirValues) {
  const std::vector<std::string> fixed = {"train.epochs=1", "layer.-1.wide=false", "layer.1.uniform=12"};
  for (const Trial& trial : trials_of({600.0, 15, fixed})) {
    for (const std::string& change : trial.changes) {
      for (const char* key : {"train.epochs=", "layer.1.wide=", "layer.1.uniform="}) {
        EXPECT_NE(change.rfind(key, 0), 0u) << change;
      }
    }
  }
}

// The key whose value differs between two trials; several are an error.
std::string changed_key(const Trial& a, const Trial& b) {
  const Config start = small_config();
  const auto value = [&](const Trial& trial, const std::string& key) {
    return value_of(parse_config(to_toml(start), "x", trial.changes), key);
  };
  std::string changed;
  const SearchSpace space(start, {});
  for (const SearchKey& key : space.keys()) {
    if (value(a, key.key) == value(b, key.key)) continue;
    EXPECT_EQ(changed, "") << key.key << " changes, too";
    changed = key.key;
  }
  return changed;
}

TEST(Tune, ProposalsComeBeforeTheSweep) {
  const auto trials = trials_of({600.0, 14, {}});
  std::vector<TrialStage> stages;
  for (const Trial& trial : trials) {
    if (trial.stage != TrialStage::kKnnMix) stages.push_back(trial.stage);
  }
  ASSERT_GE(stages.size(), 8u);
  EXPECT_EQ(stages[0], TrialStage::kStart);
  EXPECT_EQ(stages[1], TrialStage::kProposal);
  EXPECT_TRUE(std::is_sorted(stages.begin(), stages.end(), [](TrialStage a, TrialStage b) {
    const auto place = [](TrialStage s) {
      return s == TrialStage::kStart ? 0 : s == TrialStage::kProposal ? 1 : 2;
    };
    return place(a) < place(b);
  }));
}

TEST(Tune, TheSweepChangesOneKeyOfTheBest) {
  Trial best;
  std::size_t swept = 0;
  for (const Trial& trial : trials_of({600.0, 20, {}})) {
    if (trial.stage == TrialStage::kSweep) {
      ++swept;
      EXPECT_EQ(trial.from, best.number);
      EXPECT_NE(changed_key(best, trial), "") << trial.number;
    }
    if (trial.is_best) best = trial;
  }
  EXPECT_GT(swept, 5u);
}

TEST(Tune, AfterTheSweepOneOrTwoKeysChangeAtRandom) {
  const std::vector<std::string> fixed = {"data.idf_power=0",        "data.crosses=0",
                                          "layer.1.wide=false",      "loss.kind=softmax",
                                          "layer.1.uniform=12",      "layer.1.logq_correction=true",
                                          "layer.0.size=8",          "optimizer.learning_rate=0.0001",
                                          "optimizer.epsilon=0.001", "neighbours.share=0.0"};
  const auto trials = trials_of({600.0, 1000, fixed});
  EXPECT_EQ(trials.size(), 21u);  // seven numbers of epochs by three of dropout: all are tried
  std::set<std::string> seen;
  for (const Trial& trial : trials) EXPECT_TRUE(seen.insert(joined(trial.changes)).second) << "tried twice";
}

TEST(Tune, TellsTheTimeOfTrainingOnAllData) {
  for (const Trial& trial : trials_of({600.0, 3, {}})) {
    if (trial.pruned || trial.stage == TrialStage::kKnnMix) continue;
    EXPECT_TRUE(trial.within);
    EXPECT_FALSE(trial.stopped);
    EXPECT_GT(trial.train_seconds, 0.0);
    // Of the slowest of five splits: between their mean and their sum.
    EXPECT_GE(trial.full_seconds, trial.train_seconds / 5 * 300 / 255);
    EXPECT_LT(trial.full_seconds, trial.train_seconds * 300 / 255);
  }
}

TEST(Tune, WhatIsTooSlowIsStoppedAndMadeShorterFirst) {
  Config config = small_config();
  config.train.epochs = 1000000;  // takes minutes on any machine
  TuneOptions options{600.0, 8, {}};
  options.train_seconds = 2.0;
  std::vector<Trial> trials;
  const TuneResult result =
      tune(config, small_data(), options, [&](const Trial& trial) { trials.push_back(trial); });
  EXPECT_TRUE(trials[0].stopped);
  EXPECT_FALSE(trials[0].is_best);
  EXPECT_FALSE(trials[0].within);
  EXPECT_EQ(trials[0].score, 0.0);
  EXPECT_GT(trials[0].full_seconds, 5.0);
  EXPECT_EQ(joined(trials[1].changes), "train.epochs=12") << "before any proposal";
  bool any = false;
  double best = -1.0;
  for (const Trial& trial : trials) {
    EXPECT_EQ(trial.within, trial.full_seconds <= 2.0) << trial.number;
    EXPECT_EQ(trial.is_best, trial.within && trial.score > best) << trial.number;
    if (trial.within) best = std::max(best, trial.score), any = true;
  }
  EXPECT_TRUE(any);
  EXPECT_EQ(result.best.score, best);
  EXPECT_LE(result.best.full_seconds, 2.0);
}

TEST(Tune, NoneWithinTheTimeIsToldInOneLine) {
  TuneOptions options{600.0, 3, {}};
  options.train_seconds = 1e-9;
  const std::string message = input_error([&] { tune(small_config(), small_data(), options, {}); });
  EXPECT_TRUE(message.starts_with("none of 3 trials would train on all the data within 1e-09 s")) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Proposals, ComeByTheShapeOfTheData) {
  const auto first = [](std::size_t samples, double features, double labels) {
    return proposals_for({samples, features, labels}).front().name;
  };
  EXPECT_EQ(first(5000, 70, 2.4), "few samples");
  EXPECT_EQ(first(13000, 18, 19), "few samples of many labels, wider");
  EXPECT_EQ(first(80000, 40, 5), "many samples, more pairs, wider");
  EXPECT_EQ(first(45000, 9, 5), "many samples, more pairs, wider");
  // Proposals for all large sets come first, then those for the length of rows.
  const auto third = [](double features) { return proposals_for({80000, features, 5}).at(2).name; };
  EXPECT_EQ(third(40), "many samples, slower and wider");
  EXPECT_EQ(third(9), "many samples of few features");
  const DataTraits traits = traits_of(small_data());
  EXPECT_EQ(traits.samples, 300u);
  EXPECT_GT(traits.features, 0.0);
  EXPECT_GT(traits.labels, 0.0);
}

TEST(Proposals, EachKeyIsOneThatTheSearchMayChange) {
  const Config config =
      parse_config("[train]\nblock_size = 16\n[[layer]]\nsize = 8\n[[layer]]\nkind = \"sampled\"\n", "x");
  const SearchSpace space(config, {});
  for (const Proposal& proposal : proposals_for({})) {
    std::vector<std::string> changes;
    for (const std::string& change : proposal.changes) {
      const auto known = space.known(change, config);
      ASSERT_TRUE(known) << change;
      changes.push_back(*known);
    }
    EXPECT_NO_THROW(parse_config(to_toml(config), "x", changes)) << proposal.name;
  }
}

// Keys that have an effect only together with others of their proposal are tried with them.
TEST(Proposals, KeepTheKeysThatNeedEachOther) {
  const Config config = parse_config(
      "[train]\nepochs = 1\nbatch_size = 32\nblock_size = 16\n[[layer]]\nsize = 8\n[[layer]]\nlsh = 0\n"
      "uniform = 12\nwide_features = 128\n",
      "x");
  ASSERT_TRUE(config.layers.back().wide && config.layers.back().wide_fit > 0) << "the default model";
  std::set<std::string> tried;
  tune(config, small_data(), {600.0, 12, {}}, [&](const Trial& trial) {
    if (trial.stage == TrialStage::kProposal) tried.insert(joined(trial.changes));
  });
  const SearchSpace space(config, {});
  const std::vector<Proposal> proposals = proposals_for({});
  for (const Proposal& proposal : proposals) {
    std::vector<std::string> changes;
    for (const std::string& change : proposal.changes)
      changes = with_change(changes, *space.known(change, config), config);
    EXPECT_TRUE(tried.contains(joined(changes))) << proposal.name << ": " << joined(changes);
  }
}

TEST(SearchSpace, StepsToTheValuesNextToThePresentOne) {
  Config config = small_config();
  const SearchSpace space(config, {});
  const auto step = [&](const std::string& key, bool up) {
    for (std::size_t k = 0; k < space.keys().size(); ++k) {
      if (space.keys()[k].key == key) return space.step(config, {k, up}).value_or("none");
    }
    return std::string("no such key");
  };
  EXPECT_EQ(step("data.idf_power", true), "data.idf_power=0.5");
  EXPECT_EQ(step("data.idf_power", false), "data.idf_power=-0.5");
  config.data.idf_power = 0.7;
  EXPECT_EQ(step("data.idf_power", true), "data.idf_power=1.0");
  EXPECT_EQ(step("data.idf_power", false), "data.idf_power=0.5");
  config.data.idf_power = -1.0;
  EXPECT_EQ(step("data.idf_power", false), "none");
  EXPECT_EQ(step("train.epochs", true), "train.epochs=2");
  EXPECT_EQ(step("train.epochs", false), "none");
  config.train.epochs = 100;
  EXPECT_EQ(step("train.epochs", false), "train.epochs=12");
  EXPECT_EQ(step("loss.kind", true), "loss.kind=\"sigmoid\"");
  EXPECT_EQ(step("loss.kind", false), "none");
  EXPECT_EQ(step("loss.prior", true), "none");  // only for the sigmoid loss
  config.loss.kind = LossKind::kSigmoid;
  EXPECT_EQ(step("loss.prior", true), "loss.prior=0.5");
  EXPECT_EQ(step("layer.1.wide", true), "layer.1.wide=true");
  EXPECT_EQ(step("layer.1.wide_rate", true), "none");
  config.layers.back().wide = true;
  EXPECT_EQ(step("layer.1.wide_rate", true), "layer.1.wide_rate=0.3");
  config.layers.back().wide_rate = 0;  // the default for this number of epochs, 1.5
  EXPECT_EQ(step("layer.1.wide_rate", true), "layer.1.wide_rate=3.0");
  EXPECT_EQ(step("layer.1.wide_rate", false), "layer.1.wide_rate=0.7");
  EXPECT_EQ(step("layer.1.wide_scale", true), "layer.1.wide_scale=3.0");
  config.layers.back().wide_fit = 0.5;  // replaces it, and the prior
  EXPECT_EQ(step("layer.1.wide_scale", true), "none");
  EXPECT_EQ(step("loss.prior", true), "none");
  EXPECT_EQ(step("layer.1.wide_fit", false), "layer.1.wide_fit=0.25");
  EXPECT_EQ(step("layer.1.lsh", true), "no such key");  // the start does not have it
}

TEST(SearchSpace, EveryKeyAndValueIsOneOfTheConfiguration) {
  const std::string text =
      "[train]\nblock_size = 16\n[[layer]]\nsize = 8\n[[layer]]\nkind = \"sampled\"\n[layer.hash]\nrange_pow "
      "= 12\n";
  const SearchSpace space(parse_config(text, "x"), {});
  for (const SearchKey& key : space.keys()) {
    for (const std::string& value : key.values) {
      const Config config = parse_config(text, "x", {key.key + "=" + value});
      EXPECT_EQ(value_of(config, key.key), value) << key.key;
    }
  }
}

TEST(SearchSpace, TheSweepHasEveryMoveOnce) {
  const SearchSpace space(small_config(), {"layer.-1.wide=true"});
  std::set<std::pair<std::size_t, bool>> moves;
  for (const Move& move : space.sweep()) EXPECT_TRUE(moves.insert({move.key, move.up}).second);
  EXPECT_EQ(moves.size(), 2 * space.keys().size());
  EXPECT_EQ(space.keys()[space.sweep()[0].key].key, "data.idf_power");
  EXPECT_EQ(space.keys()[space.sweep()[2].key].key, "train.epochs");
  EXPECT_FALSE(space.sweep()[2].up) << "fewer epochs cost less to try than more";
  for (const Move& move : space.savings()) EXPECT_FALSE(move.up);
  EXPECT_EQ(space.keys()[space.savings()[0].key].key, "train.epochs");
}

TEST(SearchSpace, ChangesReplaceEachOtherAndVanishAtTheStart) {
  const Config start = small_config();
  const auto once = with_change({}, "train.epochs=3", start);
  EXPECT_EQ(joined(once), "train.epochs=3");
  const auto both = with_change(once, "layer.0.size=64", start);
  EXPECT_EQ(joined(both), "layer.0.size=64 train.epochs=3");
  EXPECT_EQ(joined(with_change(both, "train.epochs=4", start)), "layer.0.size=64 train.epochs=4");
  EXPECT_EQ(joined(with_change(both, "train.epochs=1", start)), "layer.0.size=64");
}

}  // namespace
}  // namespace slide::test

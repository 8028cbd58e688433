// Tests of the samples that a search holds out, and of its decision.
#include "engine/training/trial_splits.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "datasets/rows/shuffle.h"
#include "datasets/rows/split.h"
#include "engine/base/rng.h"
#include "tests/training/tune_fixture.h"

namespace slide::test {
namespace {

constexpr std::uint32_t kSplitRows = 400, kSplitLabels = 50;

// Feature i marks sample i. Labels are drawn from a window that moves over `moves` labels along the file.
Dataset rows_with(std::uint32_t moves) {
  Rng rng(1, Purpose::kTest);
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < kSplitRows; ++i)
    samples.push_back({{{i, 1.0F}}, {moves * i / kSplitRows + rng.below(kSplitLabels - moves)}});
  return dataset_of(samples, kSplitRows, kSplitLabels);
}

std::vector<std::uint32_t> ids_of(const Dataset& data) {
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < data.samples(); ++i) ids.push_back(data.features(i).ids.front());
  return ids;
}

TrialSplits split(const Dataset& data, const std::string& time = "") {
  Config config = small_config();
  config.data.time = time;
  return trial_splits(config, data, std::nullopt, 1);
}

TEST(TrialSplits, DriftingSamplesAreHeldOutFromTheEnd) {
  const TrialSplits splits = split(rows_with(20));
  EXPECT_EQ(splits.chosen_by, "order");
  EXPECT_EQ(splits.note,
            "labels change along the training samples: trials are scored on the last of them; data.time=none "
            "chooses at random");
  ASSERT_EQ(splits.folds.size(), 1U);
  std::vector<std::uint32_t> train(340), validation(30), decision(30);
  std::iota(train.begin(), train.end(), 0U);
  std::iota(validation.begin(), validation.end(), 340U);
  std::iota(decision.begin(), decision.end(), 370U);
  EXPECT_EQ(ids_of(splits.folds[0].train), train);
  EXPECT_EQ(ids_of(splits.folds[0].validation), validation);
  EXPECT_EQ(ids_of(splits.folds[0].decision), decision) << "the latest";
}

TEST(TrialSplits, ShuffledSamplesAreHeldOutAtRandom) {
  std::vector<std::uint32_t> order(kSplitRows);
  shuffle_order(order, 5, 1);
  for (const TrialSplits& splits :
       {split(copy_rows(rows_with(20), order)), split(rows_with(0)), split(rows_with(20), "none")}) {
    EXPECT_EQ(splits.chosen_by, "random");
    EXPECT_EQ(splits.note, "");
    ASSERT_EQ(splits.folds.size(), 5U);
    std::set<std::uint32_t> held;
    for (const TrialSplit& fold : splits.folds) {
      EXPECT_EQ(fold.validation.samples(), 30U);
      EXPECT_EQ(fold.decision.samples(), 30U);
      for (const Dataset* part : {&fold.validation, &fold.decision}) {
        for (const std::uint32_t id : ids_of(*part)) EXPECT_TRUE(held.insert(id).second) << id;
      }
    }
  }
}

// The last samples of a file that is sorted by label have labels that no other has: nothing can be learnt.
TEST(TrialSplits, AFileSortedByLabelIsHeldOutAtRandom) {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < kSplitRows; ++i)
    samples.push_back({{{i, 1.0F}}, {i * kSplitLabels / kSplitRows}});
  const TrialSplits splits = split(dataset_of(samples, kSplitRows, kSplitLabels));
  EXPECT_EQ(splits.chosen_by, "random");
  EXPECT_EQ(
      splits.note,
      "labels change along the training samples, which are sorted by label: trials are scored on random "
      "samples");
  EXPECT_EQ(splits.folds.size(), 5U);
}

TEST(TrialSplits, GroupsAreOnOneSide) {
  SampleKeys keys;
  for (std::uint32_t i = 0; i < kSplitRows; ++i) keys.groups.push_back(i / 5);
  const TrialSplits splits = split(rows_with(20).with_keys(std::make_shared<const SampleKeys>(keys)));
  EXPECT_EQ(splits.chosen_by, "group");
  EXPECT_EQ(splits.note, "") << "groups are wanted, whatever the order";
  for (const TrialSplit& fold : splits.folds) {
    std::set<std::uint32_t> of_validation;
    for (const std::uint32_t id : ids_of(fold.validation)) of_validation.insert(id / 5);
    EXPECT_FALSE(fold.decision.samples() == 0);
    for (const std::uint32_t id : ids_of(fold.decision)) EXPECT_FALSE(of_validation.contains(id / 5)) << id;
  }
}

// One held-out group cannot be halved: trials are scored on it, and nothing is left for the decision.
TEST(TrialSplits, WhatCannotBeHalvedIsForValidation) {
  SampleKeys keys;
  for (std::uint32_t i = 0; i < kSplitRows; ++i) keys.groups.push_back(i < 340 ? i / 170 : 2);
  const TrialSplits splits = split(rows_with(0).with_keys(std::make_shared<const SampleKeys>(keys)));
  EXPECT_EQ(splits.folds[0].validation.samples(), 60U);
  EXPECT_EQ(splits.folds[0].decision.samples(), 0U);
  const TrialDecision decision(std::span(splits.folds).first(1));
  EXPECT_EQ(decision.compare({}, {}, {}).p, 1.0);
}

// Folds whose decision samples have these keys.
std::vector<TrialSplit> folds_with(std::uint32_t samples, const SampleKeys& keys) {
  std::vector<Sample> rows(samples, Sample{{}, {0}});
  return {{{}, {}, dataset_of(rows, 1, 1).with_keys(std::make_shared<const SampleKeys>(keys))}};
}

std::vector<float> scores_of(std::uint32_t samples, std::uint64_t seed, double better) {
  Rng rng(seed, Purpose::kTest);
  std::vector<float> scores;
  for (std::uint32_t i = 0; i < samples; ++i) scores.push_back(rng.uniform() < 0.4 + better ? 1.0F : 0.0F);
  return scores;
}

TEST(TrialDecision, TellsAGainFromChance) {
  const TrialDecision decision(folds_with(1000, {}));
  EXPECT_EQ(decision.samples(), 1000U);
  std::size_t taken = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Difference none =
        decision.compare(scores_of(1000, seed, 0), scores_of(1000, seed + 1000, 0), {.count = 200});
    taken += none.value > 0 && none.p <= 0.05 ? 1 : 0;
  }
  EXPECT_LE(taken, 7U) << "2.5 are expected, more than 7 have a probability of 0.005";
  const Difference gain = decision.compare(scores_of(1000, 1, 0.2), scores_of(1000, 2, 0), {});
  EXPECT_NEAR(gain.value, 0.2, 0.1);
  EXPECT_LE(gain.p, 0.05);
  EXPECT_GT(gain.interval.low, 0.0);
}

// Two groups of 500 that differ by chance are two observations, not 1,000; so are runs of samples in time.
TEST(TrialDecision, ResamplesGroupsAndBatches) {
  SampleKeys groups, times;
  std::vector<float> better, start(1000, 0.5F);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    groups.groups.push_back(i % 2);
    times.times.push_back(999 - i);
    better.push_back(i % 2 == 0 ? 0.8F : 0.3F);
  }
  const auto p_with = [&](const SampleKeys& keys, const std::vector<float>& scores) {
    return TrialDecision(folds_with(1000, keys)).compare(scores, start, {}).p;
  };
  EXPECT_LE(p_with({}, better), 0.05);
  EXPECT_GT(p_with(groups, better), 0.2);
  EXPECT_LE(p_with(times, better), 0.05) << "each batch has as much of both";
  std::vector<float> runs;
  for (std::uint32_t i = 0; i < 1000; ++i) runs.push_back(i / 200 % 2 == 0 ? 0.8F : 0.3F);
  EXPECT_GT(p_with(times, runs), 1.5 * p_with({}, runs)) << "five runs of 200";
}

}  // namespace
}  // namespace slide::test

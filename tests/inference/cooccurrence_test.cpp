// Tests of label propagation along co-occurrence: against the formula, alone and in predictions.
#include "engine/inference/cooccurrence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/training/trainer.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

// Labels 0 to 3 co-occur in various ways, label 4 with none; each sample has feature 0.
Neighbours cooccurrence_knn_of(const NeighbourConfig& config) {
  std::vector<Sample> samples;
  const auto add = [&](std::size_t count, const std::vector<std::uint32_t>& labels) {
    for (std::size_t i = 0; i < count; ++i) samples.push_back({{{0, 1.0f}}, labels});
  };
  add(6, {0, 1});
  add(2, {0, 1, 2, 3});
  add(2, {0, 3});
  add(3, {4});
  return {config, dataset_of(samples, 1, 5), FeatureScale()};
}

using Probabilities = std::map<std::uint32_t, double>;

// By definition, over all co-occurring labels.
Probabilities naive(const Neighbours& cooccurrence_knn, const Probabilities& before) {
  Probabilities after;
  for (const auto& [y, p] : before) {
    std::vector<double> lent;
    for (const auto& [z, q] : before) {
      for (const auto& [label, probability] : cooccurrence_knn.cooccurrence().of(z))
        if (label == y) lent.push_back(cooccurrence_knn.cooccurrence_share() * q * probability);
    }
    std::ranges::sort(lent, std::greater<>());
    double left = 1 - p;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, lent.size()); ++i) left *= 1 - lent[i];
    after[y] = 1 - left;
  }
  return after;
}

TEST(Cooccurrence, RaiseCooccurringLabels) {
  const Neighbours cooccurrence_knn = cooccurrence_knn_of({0.3, 5, 4.0, 0.5});
  // P(1 | 0) = 8 / 20, P(1 | 2) = 2 / 12, P(1 | 3) = 2 / 14
  ASSERT_EQ(cooccurrence_knn.cooccurrence().of(0).size(), 3U);
  EXPECT_FLOAT_EQ(cooccurrence_knn.cooccurrence().of(0)[0].probability, 8.0f / 20);
  for (const LossKind loss : all_losses()) {
    const Probabilities before = {{0, 0.9}, {1, 0.2}, {2, 0.001}, {3, 0.25}, {4, 0.24}};
    std::vector<Prediction> best;
    for (const auto& [label, p] : before) best.push_back({label, static_cast<float>(score_of(loss, p))});
    std::ranges::sort(best, ranks_before);
    propagate_cooccurrence(cooccurrence_knn, loss, best);
    EXPECT_TRUE(std::ranges::is_sorted(best, ranks_before));
    const Probabilities after = naive(cooccurrence_knn, before);
    ASSERT_EQ(best.size(), before.size());
    for (const auto& [label, score] : best)
      EXPECT_NEAR(probability_of(loss, score), after.at(label), 1e-6) << label;
    EXPECT_NEAR(after.at(1),
                1 - 0.8 * (1 - 0.5 * 0.9 * 8 / 20) * (1 - 0.5 * 0.001 * 2 / 12) * (1 - 0.5 * 0.25 * 2 / 14),
                1e-7);
    EXPECT_EQ(best[1].label, 1U);  // from behind 3 and 4
    EXPECT_EQ(after.at(4), 0.24);
  }
}

TEST(Cooccurrence, ChangeNothingWithoutPropagatingLabels) {
  EXPECT_EQ(knn_with_cooccurrence(nullptr), nullptr);
  const Neighbours none = cooccurrence_knn_of({0.3, 5, 4.0, 0.0}),
                   some = cooccurrence_knn_of({0.3, 5, 4.0, 0.1});
  EXPECT_EQ(knn_with_cooccurrence(&none), nullptr);
  EXPECT_EQ(knn_with_cooccurrence(&some), &some);
  EXPECT_EQ(kept_for_cooccurrence(nullptr, 3), 3U);
  EXPECT_EQ(kept_for_cooccurrence(&some, 3), kPropagatingLabels);
  EXPECT_EQ(kept_for_cooccurrence(&some, 30), 30U);
}

TEST(Cooccurrence, AreComputedOnFirstUseForOtherVotes) {
  Neighbours neighbours = cooccurrence_knn_of({0.3, 5, 4.0, 0.0});
  neighbours.set_mix(0.3, 4.0, 0.2);
  EXPECT_EQ(neighbours.cooccurrence().of(0).size(), 3U);
  EXPECT_EQ(knn_with_cooccurrence(&neighbours), &neighbours);
}

// ---- predictions ----

Dataset data_of(std::uint32_t seed, std::uint32_t samples) {
  DataSpec spec;
  spec.samples = samples, spec.features = 60, spec.labels = 24, spec.entries = 7, spec.seed = seed;
  return make_data(spec);
}

std::vector<std::vector<Prediction>> answers(const TrainedNetwork& trained, const Dataset& data,
                                             const InferenceOptions& options) {
  std::vector<std::vector<Prediction>> all(data.size());
  Predictor(trained, options).predict(data, [&](std::size_t i, std::span<const Prediction> best) {
    all[i].assign(best.begin(), best.end());  // each sample once
  });
  return all;
}

class PropagatedPredictions : public testing::TestWithParam<LossKind> {};

// The top labels without propagation become those of the formula for any k; the labels behind them stay.
TEST_P(PropagatedPredictions, AreTheBestAsTheFormulaHasThem) {
  Config config = small_wide_config();
  config.loss.kind = GetParam();
  config.train.epochs = 3;
  config.neighbours = {0.35, 7, 3.0, 0.8};
  const Dataset train = data_of(1, 200), data = data_of(2, 60);
  Trainer trainer(fresh_job(config, train));
  trainer.run({});
  InferenceOptions options;
  options.k = 24;
  options.cooccurrence = false;
  const auto before = answers(trainer.trained(), data, options);
  options.cooccurrence = true;
  std::size_t moved = 0;
  for (const std::size_t k : {1U, 5U, 7U, 10U, 24U}) {
    options.k = k;
    for (const bool low_latency : {false, true}) {
      options.low_latency = low_latency;
      const auto after = answers(trainer.trained(), data, options);
      for (std::size_t i = 0; i < data.size(); ++i) {
        Probabilities some;
        for (std::size_t r = 0; r < kPropagatingLabels; ++r)
          some[before[i][r].label] = probability_of(config.loss.kind, before[i][r].score);
        const Probabilities lent = naive(*trainer.neighbours(), some);
        ASSERT_EQ(after[i].size(), k);
        EXPECT_TRUE(std::ranges::is_sorted(after[i], ranks_before));
        for (std::size_t r = 0; r < k; ++r) {
          const auto [label, score] = after[i][r];
          if (r >= kPropagatingLabels) {
            EXPECT_EQ(label, before[i][r].label);
            EXPECT_NEAR(score, before[i][r].score, 1e-4);
            continue;
          }
          EXPECT_NEAR(probability_of(config.loss.kind, score), lent.at(label), 1e-5);
          moved += label != before[i][r].label ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(moved, 20U);
}

INSTANTIATE_TEST_SUITE_P(Losses, PropagatedPredictions, testing::ValuesIn(all_losses()),
                         [](const auto& tested) { return std::string(spelling(tested.param)); });

}  // namespace
}  // namespace slide::test

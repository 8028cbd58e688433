// Tests of learnt feature weights: the likelihood against its definition in double precision, its gradient
// against differences, and learning from samples with informative and noisy features.
#include "engine/knn/feature_weight_learning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "engine/base/rng.h"
#include "engine/kernels/bf16.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

constexpr std::uint32_t kInformative = 40, kFeatures = 80, kGroups = 20;

// Each sample belongs to one of kGroups groups, which determine its labels; it has two features of its group
// and six random ones.
Dataset informative_and_noisy(std::size_t samples, std::uint64_t seed) {
  std::vector<Sample> rows;
  Rng rng(seed, Purpose::kTest, 0, 0);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::uint32_t group = rng.below(kGroups);
    std::map<std::uint32_t, float> features;
    features[2 * group] = 1.0f;
    features[2 * group + 1] = 0.5f + 0.5f * float(rng.uniform());
    for (int n = 0; n < 6; ++n)
      features[kInformative + rng.below(kFeatures - kInformative)] = 1.0f + float(rng.uniform());
    rows.push_back({{features.begin(), features.end()}, {group, kGroups + group % 3}});
  }
  return dataset_of(rows, kFeatures, kGroups + 3);
}

// By definition, in double precision, over all samples.
double naive_likelihood(const Neighbours& neighbours, std::span<const float> logs) {
  constexpr double kPower = FeatureWeightLearning::kPower;
  const Neighbours::Storage& stored = neighbours.storage();
  std::vector<std::vector<double>> rows(stored.samples(), std::vector<double>(logs.size(), 0.0));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double square = 0.0;
    for (std::uint64_t at = stored.feature_offsets[i]; at < stored.feature_offsets[i + 1]; ++at) {
      const std::uint32_t f = stored.features[at];
      rows[i][f] = stored.value(i, at) * std::exp(double(logs[f]));
      square += rows[i][f] * rows[i][f];
    }
    for (double& value : rows[i]) value /= std::sqrt(square);
  }
  const auto labels_of = [&](std::size_t i) {
    return std::span(stored.labels)
        .subspan(stored.label_offsets[i], stored.label_offsets[i + 1] - stored.label_offsets[i]);
  };
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::map<std::uint32_t, double> votes;
    double all = std::pow(Neighbours::kPriorNeighbour, kPower);
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (j == i) continue;
      const double cosine = std::inner_product(rows[i].begin(), rows[i].end(), rows[j].begin(), 0.0);
      if (cosine <= 0) continue;
      all += std::pow(cosine, kPower);
      for (const std::uint32_t label : labels_of(j)) votes[label] += std::pow(cosine, kPower);
    }
    const auto own = labels_of(i);
    for (const std::uint32_t label : own)
      sum += std::log(votes[label] / all + FeatureWeightLearning::kMinVote) / double(own.size());
  }
  return sum;
}

std::vector<float> some_logs() {
  std::vector<float> logs(kFeatures);
  Rng rng(5, Purpose::kTest, 0, 0);
  for (float& log : logs) log = float(rng.uniform()) - 0.5f;
  return logs;
}

// Neighbours with learnt weights.
Neighbours learnt_from(const Dataset& train, int threads) {
  Neighbours neighbours(NeighbourConfig(), train, FeatureScale());
  learn_feature_weights(neighbours, threads);
  return neighbours;
}

// So few samples that all samples with a shared feature are candidates.
TEST(FeatureWeightLearning, LikelihoodIsThatOfVotesThatLeaveTheSampleOut) {
  const Neighbours neighbours(NeighbourConfig(), informative_and_noisy(30, 1), FeatureScale());
  FeatureWeightLearning learning(neighbours, 2);
  learning.find_candidates(neighbours);
  const std::vector<float> logs = some_logs();
  EXPECT_NEAR(learning.slope_at(logs).likelihood, naive_likelihood(neighbours, logs), 1e-3);
}

TEST(FeatureWeightLearning, GradientIsThatOfTheLikelihood) {
  const Neighbours neighbours(NeighbourConfig(), informative_and_noisy(150, 2), FeatureScale());
  FeatureWeightLearning learning(neighbours, 2);
  learning.find_candidates(neighbours);
  std::vector<float> logs = some_logs();
  const std::vector<double> gradient = learning.slope_at(logs).gradient;
  constexpr float kStep = 0x1p-6f;
  for (std::size_t f = 0; f < kFeatures; ++f) {
    const float before = logs[f];
    logs[f] = before + kStep;
    const double above = learning.slope_at(logs).likelihood;
    logs[f] = before - kStep;
    const double below = learning.slope_at(logs).likelihood;
    logs[f] = before;
    EXPECT_NEAR(gradient[f], (above - below) / (2 * kStep), 0.01 + 0.01 * std::fabs(gradient[f])) << f;
  }
}

TEST(FeatureWeightLearning, FeaturesThatTellWeighMore) {
  const Dataset train = informative_and_noisy(600, 3);
  const Neighbours unweighted(NeighbourConfig(), train, FeatureScale());
  const Neighbours learnt = learnt_from(train, 2);
  ASSERT_EQ(learnt.storage().feature_weights.size(), kFeatures);
  EXPECT_TRUE(unweighted.storage().feature_weights.empty());
  std::vector<float> weights;
  for (const std::uint16_t weight : learnt.storage().feature_weights)
    weights.push_back(kernels::from_bf16(weight));
  const auto border = weights.begin() + kInformative;
  EXPECT_GT(*std::min_element(weights.begin(), border), 2 * *std::max_element(border, weights.end()));

  // Votes for unseen samples favour their labels, too.
  const Dataset asked = informative_and_noisy(200, 4);
  const auto right = [&](const Neighbours& neighbours) {
    Neighbours::Scratch scratch = neighbours.make_scratch();
    double share = 0.0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      std::vector<Neighbours::Vote> votes;
      neighbours.vote(asked.features(i), scratch, votes);
      for (const Neighbours::Vote& vote : votes)
        if (vote.label == asked.labels(i).front()) share += vote.weight;
    }
    return share / double(asked.size());
  };
  EXPECT_GT(right(learnt), 0.9);
  EXPECT_LT(right(unweighted), 0.6);
}

TEST(FeatureWeightLearning, DoesNotDependOnThreads) {
  const Dataset train = informative_and_noisy(300, 6);
  const auto weights = [&](int threads) { return learnt_from(train, threads).storage().feature_weights; };
  const std::vector<std::uint16_t> one = weights(1);
  for (const int threads : {2, 3, 7}) EXPECT_EQ(weights(threads), one) << threads;
}

// Labels of all samples, labels of one sample, a single sample: nothing to learn.
TEST(FeatureWeightLearning, StaysWithFiniteWeightsWhereNothingCanBeLearnt) {
  const auto learnt = [](const Dataset& train) { return learnt_from(train, 2).storage().feature_weights; };
  const std::vector<std::pair<std::uint32_t, float>> features = {{0, 1.0f}, {1, 2.0f}};
  EXPECT_TRUE(learnt(dataset_of({{features, {0}}}, 2, 1)).empty());
  for (const Dataset& train : {dataset_of({{features, {0}}, {features, {0}}}, 2, 1),
                               dataset_of({{features, {0}}, {features, {1}}}, 2, 2),
                               dataset_of({{{{0, 1.0f}}, {0}}, {{{1, 1.0f}}, {1}}}, 2, 2)}) {
    for (const std::uint16_t weight : learnt(train)) {
      EXPECT_GT(kernels::from_bf16(weight), 1e-4f);
      EXPECT_LT(kernels::from_bf16(weight), 100.0f);
    }
  }
}

// A feature weight equals scaled feature values.
TEST(Neighbours, WeightsAreThoseOfTheValues) {
  const Dataset train = informative_and_noisy(200, 7);
  Neighbours weighted(NeighbourConfig(), train, FeatureScale());
  std::vector<std::uint16_t> weights(kFeatures);
  std::vector<float> factors(kFeatures);
  Rng rng(8, Purpose::kTest, 0, 0);
  for (std::size_t f = 0; f < kFeatures; ++f) {
    weights[f] = kernels::to_bf16(0.25f + float(rng.uniform()));
    factors[f] = kernels::from_bf16(weights[f]);
  }
  weighted.set_feature_weights(weights);
  const FeatureScale scale(factors, true);
  const Neighbours scaled(NeighbourConfig(), train, scale);
  Neighbours::Scratch scratch = weighted.make_scratch(), other = scaled.make_scratch();
  const Dataset asked = informative_and_noisy(50, 9);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::vector<Neighbours::Vote> votes, expected;
    std::vector<float> values;
    weighted.vote(asked.features(i), scratch, votes);
    scaled.vote(scale.scaled(asked.features(i), values), other, expected);
    std::map<std::uint32_t, float> by_label;
    for (const Neighbours::Vote& vote : expected) by_label[vote.label] = vote.weight;
    for (const Neighbours::Vote& vote : votes) EXPECT_NEAR(vote.weight, by_label[vote.label], 0.02) << i;
  }
}

}  // namespace
}  // namespace slide::test

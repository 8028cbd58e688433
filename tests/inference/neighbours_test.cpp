// Tests of kNN votes, against cosines with all samples, and of predictions, against probabilities of a
// network without neighbours mixed with these votes.
#include "engine/knn/neighbours.h"
#include "engine/crosses/feature_transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/training/trainer.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

using Shares = std::map<std::uint32_t, double>;

double cosine(const SparseRow& a, const SparseRow& b) {
  double dot = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.ids.size(); ++i) {
    aa += double(a.values[i]) * a.values[i];
    const auto at = std::lower_bound(b.ids.begin(), b.ids.end(), a.ids[i]);
    if (at != b.ids.end() && *at == a.ids[i])
      dot += double(a.values[i]) * b.values[static_cast<std::size_t>(at - b.ids.begin())];
  }
  for (const float v : b.values) bb += double(v) * v;
  return aa == 0 || bb == 0 ? 0.0 : dot / std::sqrt(aa * bb);
}

// By definition, over all samples.
Shares naive_votes(const NeighbourConfig& config, const Dataset& train, const SparseRow& row) {
  std::vector<std::pair<double, std::size_t>> nearest;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const double c = cosine(row, train.features(i));
    if (c > 0 && !train.labels(i).empty()) nearest.emplace_back(-c, i);
  }
  std::sort(nearest.begin(), nearest.end());
  nearest.resize(std::min<std::size_t>(nearest.size(), config.count));
  double sum = std::pow(Neighbours::kPriorNeighbour, config.power);
  for (const auto& [c, i] : nearest) sum += std::pow(-c, config.power);
  Shares shares;
  for (const auto& [c, i] : nearest) {
    for (const std::uint32_t label : train.labels(i)) shares[label] += std::pow(-c, config.power) / sum;
  }
  return shares;
}

void expect_votes(const std::vector<Neighbours::Vote>& votes, const Shares& expected, double tolerance) {
  ASSERT_EQ(votes.size(), expected.size());
  auto at = expected.begin();
  for (const Neighbours::Vote& vote : votes) {
    EXPECT_EQ(vote.label, at->first);  // ascending
    EXPECT_NEAR(vote.weight, at->second, tolerance);
    ++at;
  }
}

Dataset training_data() {
  DataSpec spec;
  spec.samples = 90, spec.features = 60, spec.labels = 40, spec.entries = 7, spec.unlabelled = 9;
  spec.featureless = 13;
  return make_data(spec);
}

// Each feature's samples in order, for any number of threads and tasks.
TEST(Neighbours, AreListedByTheirFeatures) {
  DataSpec spec;
  spec.samples = 5000, spec.features = 60, spec.labels = 40, spec.entries = 7, spec.unlabelled = 9;
  spec.featureless = 13;
  const Dataset train = make_data(spec);
  std::vector<std::vector<std::uint32_t>> expected(train.feature_count());
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const SparseRow row = train.features(i);
    if (train.labels(i).empty() || std::ranges::all_of(row.values, [](float x) { return x == 0; })) continue;
    for (std::size_t k = 0; k < row.ids.size(); ++k)
      if (row.values[k] != 0) expected[row.ids[k]].push_back(count);
    ++count;
  }
  ASSERT_GT(count, 4000U);
  for (const int threads : {1, 3}) {
    const Neighbours neighbours(NeighbourConfig{0.3, 1, 1.0}, train, FeatureScale(), threads);
    ASSERT_EQ(neighbours.samples(), count);
    for (std::uint32_t f = 0; f < expected.size(); ++f)
      EXPECT_TRUE(std::ranges::equal(neighbours.samples_with(f), expected[f])) << threads << " " << f;
  }
}

TEST(Neighbours, VoteByTheirCosines) {
  const Dataset train = training_data();
  DataSpec spec;
  spec.samples = 60, spec.features = 60, spec.labels = 40, spec.entries = 9, spec.featureless = 7,
  spec.seed = 2;
  const Dataset asked = make_data(spec);
  for (const std::uint32_t count : {1U, 200U}) {  // 200: all that share a feature
    for (const double power : {0.5, 4.0, 40.0}) {
      const NeighbourConfig config{0.3, count, power};
      const Neighbours neighbours(config, train, FeatureScale());
      Neighbours::Scratch scratch = neighbours.make_scratch();
      for (std::size_t i = 0; i < asked.size(); ++i) {
        std::vector<Neighbours::Vote> votes;
        neighbours.vote(asked.features(i), scratch, votes);
        // bfloat16 values are wrong by at most 2^-9.
        expect_votes(votes, naive_votes(config, train, asked.features(i)), 0.003 * (1 + power));
      }
    }
  }
}

TEST(Neighbours, VotesFollowThoseThatAreThere) {
  const Dataset train = training_data();
  const Neighbours neighbours({0.3, 5, 4.0}, train, FeatureScale());
  Neighbours::Scratch scratch = neighbours.make_scratch();
  std::vector<Neighbours::Vote> votes, more;
  neighbours.vote(train.features(0), scratch, votes);
  more = {{39, 0.5f}};
  neighbours.vote(train.features(0), scratch, more);
  ASSERT_EQ(more.size(), votes.size() + 1);
  EXPECT_EQ(more[0].label, 39U);
  for (std::size_t v = 0; v < votes.size(); ++v) EXPECT_EQ(more[v + 1].label, votes[v].label);
}

// Lengths and zero values have no effect; negative values do.
TEST(Neighbours, OnlyDirectionsCount) {
  const Dataset train = dataset_of({{{{0, 100.0f}, {1, 0.0f}}, {0}},
                                    {{{0, -1e-20f}}, {1}},
                                    {{{1, 0.0f}}, {2}},
                                    {{{0, 3e30f}, {2, 3e30f}}, {3}}},
                                   4, 4);
  const NeighbourConfig config{0.3, 20, 1.0};
  const Neighbours neighbours(config, train, FeatureScale());
  EXPECT_EQ(neighbours.samples(), 3U);  // one is entirely zero
  Neighbours::Scratch scratch = neighbours.make_scratch();
  const auto votes_for = [&](const std::vector<std::pair<std::uint32_t, float>>& features) {
    const Dataset one = dataset_of({{features, {}}}, 4, 4);
    std::vector<Neighbours::Vote> votes;
    neighbours.vote(one.features(0), scratch, votes);
    return votes;
  };
  const double half = std::sqrt(0.5);
  expect_votes(votes_for({{0, 1e-25f}}), {{0, 1 / (1.75 + half)}, {3, half / (1.75 + half)}}, 0.003);
  expect_votes(votes_for({{0, -2.0f}}), {{1, 1 / 1.75}}, 1e-6);
  expect_votes(votes_for({{3, 1.0f}}), {}, 0);
  expect_votes(votes_for({{0, 0.0f}}), {}, 0);
  expect_votes(votes_for({}), {}, 0);
}

// Postings of frequent features are not read; samples that share rarer features are found.
TEST(Neighbours, FindTheNearestOfMany) {
  DataSpec spec;
  spec.samples = 20000, spec.features = 300, spec.labels = 100, spec.entries = 12;
  const Dataset train = make_data(spec);
  const NeighbourConfig config{0.3, 5, 4.0};
  const Neighbours neighbours(config, train, FeatureScale());
  Neighbours::Scratch scratch = neighbours.make_scratch();
  double found = 0, asked = 0;
  for (std::size_t i = 0; i < train.size(); i += 200) {
    std::vector<Neighbours::Vote> votes;
    neighbours.vote(train.features(i), scratch, votes);
    const Shares expected = naive_votes(config, train, train.features(i));
    for (const Neighbours::Vote& vote : votes) {
      const auto at = expected.find(vote.label);
      if (at != expected.end()) found += std::min(double(vote.weight), at->second);
    }
    for (const auto& [label, share] : expected) asked += share;
  }
  EXPECT_GT(found, 0.8 * asked);
}

// All samples have feature 0, and two thirds have no other.
TEST(Neighbours, WhatAllSamplesHaveBringsNone) {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < 3 * Neighbours::kPostings; ++i) {
    samples.push_back({{{0, 1.0f}}, {i % 7}});
    if (i % 3 == 0) samples.back().features.emplace_back(1 + i % 1000, 0.1f);
  }
  const Dataset train = dataset_of(samples, 1001, 8);
  const NeighbourConfig config{0.3, 5, 4.0};
  const Neighbours neighbours(config, train, FeatureScale());
  Neighbours::Scratch scratch = neighbours.make_scratch();
  const auto votes_for = [&](std::size_t i) {
    std::vector<Neighbours::Vote> votes;
    neighbours.vote(train.features(i), scratch, votes);
    return votes.size();
  };
  EXPECT_EQ(votes_for(1), 0U);
  EXPECT_GT(votes_for(3), 0U);
  EXPECT_EQ(votes_for(1), 0U);
}

// Rows so short or long that squares of floats would underflow or overflow, and values so uneven that
// products do.
TEST(Neighbours, NoRowIsTooShortOrLong) {
  const Dataset train = dataset_of({{{{0, 1.0f}, {1, 1e-30f}}, {0}}, {{{0, 1e-30f}, {1, 1.0f}}, {1}}}, 2, 2);
  const Neighbours neighbours({0.3, 20, 1.0}, train, FeatureScale());
  Neighbours::Scratch scratch = neighbours.make_scratch();
  for (const float size : {1e-40f, 1e-25f, 1.0f, 3e38f}) {
    const Dataset one = dataset_of({{{{0, size}, {1, size * 1e-30f}}, {}}}, 2, 2);
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<Neighbours::Vote> votes;
      neighbours.vote(one.features(0), scratch, votes);
      expect_votes(votes, {{0, 1 / 1.75}}, 1e-6);
    }
  }
}

// ---- predictions ----

using Scores = std::vector<std::map<std::uint32_t, double>>;

Scores predict(const TrainedNetwork& trained, const Dataset& data, const InferenceOptions& options) {
  Scores scores(data.size());
  std::mutex mutex;
  Predictor(trained, options).predict(data, [&](std::size_t i, std::span<const Prediction> best) {
    const std::lock_guard lock(mutex);
    for (std::size_t p = 0; p < best.size(); ++p) {
      EXPECT_TRUE(scores[i].emplace(best[p].label, best[p].score).second) << "label twice";
      EXPECT_TRUE(p == 0 || best[p - 1].score >= best[p].score);
    }
  });
  return scores;
}

// Mean of a network's probability and a vote, by the definition of the power mean.
double mean_of(const NeighbourConfig& config, double probability, double vote) {
  const double sum =
      (1 - config.share) * std::pow(probability, config.mean) + config.share * std::pow(vote, config.mean);
  return std::pow(sum, 1 / config.mean);
}

// Scores of all labels from the same training without neighbours.
Scores scores_without(Config config, const Dataset& train, const Dataset& data, bool log_softmax) {
  config.neighbours.share = 0.0;
  Trainer trainer(fresh_job(config, train));
  trainer.run({});
  InferenceOptions options;
  options.k = train.label_count();
  options.log_softmax = log_softmax;
  return predict(trainer.trained(), data, options);
}

Config config_with_neighbours(LossKind loss, bool wide, double mean = 0.5) {
  Config config = small_wide_config();
  config.loss.kind = loss;
  config.layers.back().wide = wide;
  config.layers.back().wide_margin = 0.0;  // "auto" looks at the neighbours: trains otherwise without them
  config.layers.back().lsh = 8;
  config.layers.back().hash = small_hash();
  config.train.epochs = 3;
  config.neighbours = {0.35, 7, 3.0, 0.0, false, mean};  // votes of equal features, as naive_votes()
  return config;
}

struct Case {
  LossKind loss;
  bool wide;
  double mean;
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << (tested.loss == LossKind::kSoftmax ? "softmax" : "sigmoid") << (tested.wide ? "Wide" : "")
       << (tested.mean == 1.0   ? "Sum"
           : tested.mean == 0.5 ? ""
                                : "Power");
}

class MixedPredictions : public testing::TestWithParam<Case> {
 protected:
  const Dataset train_ = training_data();
  const Dataset data_ = [] {
    DataSpec spec;
    spec.samples = 150, spec.features = 60, spec.labels = 40, spec.entries = 9, spec.featureless = 7;
    spec.seed = 2;
    return make_data(spec);
  }();
  const Config config_ = config_with_neighbours(GetParam().loss, GetParam().wide, GetParam().mean);

  // By label: the score of the mixed probability.
  Scores expected() {
    const LossKind loss = config_.loss.kind;
    Scores scores = scores_without(config_, train_, data_, is_normalised(loss));
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const Shares votes = naive_votes(config_.neighbours, train_, data_.features(i));
      if (votes.empty()) continue;
      for (auto& [label, score] : scores[i]) {
        const auto vote = votes.find(label);
        const double p = mean_of(config_.neighbours, probability_of(loss, score),
                                 vote == votes.end() ? 0.0 : vote->second);
        score = loss == LossKind::kSoftmax ? std::log(p) : std::log(p / (1 - p));
      }
    }
    return scores;
  }
};

// The k best of `all`, except scores that rounding of the votes may swap.
void expect_best(const std::map<std::uint32_t, double>& got, const std::map<std::uint32_t, double>& all,
                 std::size_t k) {
  constexpr double kTolerance = 0.03;
  ASSERT_EQ(got.size(), k);
  double least = 1e9;
  for (const auto& [label, score] : got) {
    EXPECT_NEAR(score, all.at(label), kTolerance);
    least = std::min(least, score);
  }
  for (const auto& [label, score] : all) EXPECT_TRUE(got.contains(label) || score < least + kTolerance);
}

std::vector<double> sorted_scores(const std::map<std::uint32_t, double>& of_labels) {
  std::vector<double> scores;
  for (const auto& [label, score] : of_labels) scores.push_back(score);
  std::sort(scores.begin(), scores.end());
  return scores;
}

TEST_P(MixedPredictions, AreThoseOfTheMixedProbabilities) {
  Trainer trainer(fresh_job(config_, train_));
  trainer.run({});
  const Scores all = expected();
  for (const std::size_t k : {std::size_t{1}, std::size_t{5}, std::size_t{40}}) {
    InferenceOptions options;
    options.k = k;
    options.threads = 2;
    options.bound_first = true;
    const Scores bound_first = predict(trainer.trained(), data_, options);
    options.bound_first = false;
    const Scores full = predict(trainer.trained(), data_, options);
    options.low_latency = true;
    options.threads = 1;
    const Predictor low_latency(trainer.trained(), options);
    Predictor::Scratch scratch;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      expect_best(full[i], all[i], k);
      expect_best(bound_first[i], all[i], k);
      const auto scores = sorted_scores(full[i]), bounded_scores = sorted_scores(bound_first[i]);
      ASSERT_EQ(scores.size(), bounded_scores.size());
      for (std::size_t r = 0; r < scores.size(); ++r)  // with equal votes
        EXPECT_NEAR(bounded_scores[r], scores[r], 2e-5) << i << ", " << r;
      std::map<std::uint32_t, double> alone;
      low_latency.predict(data_.slice(i, 1), {k, false}, scratch,
                          [&](std::size_t, std::span<const Prediction> best) {
                            for (const Prediction& p : best) alone[p.label] = p.score;
                          });
      expect_best(alone, all[i], k);
    }
  }
}

// Labels with votes are scored whether the tables return them or not.
TEST_P(MixedPredictions, OfCandidatesHaveTheVotes) {
  Trainer trainer(fresh_job(config_, train_));
  trainer.run({});
  InferenceOptions options;
  options.k = 40;
  const Scores full = predict(trainer.trained(), data_, options);
  options.mode = Inference::kLsh;
  options.candidates = 3;
  const Scores some = predict(trainer.trained(), data_, options);
  const bool softmax = config_.loss.kind == LossKind::kSoftmax;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const Shares votes = naive_votes(config_.neighbours, train_, data_.features(i));
    // The network's probability, recovered from its mean with the vote.
    const auto network_share = [&](const Scores& scores, std::uint32_t label) {
      const double probability = probability_of(config_.loss.kind, scores[i].at(label));
      const auto vote = votes.find(label);
      if (votes.empty()) return probability;
      const double mean = config_.neighbours.mean;
      const double root =
          std::pow(probability, mean) - 0.35 * std::pow(vote == votes.end() ? 0.0 : vote->second, mean);
      return std::pow(std::max(root / 0.65, 0.0), 1 / mean);
    };
    for (const auto& [label, vote] : votes) ASSERT_TRUE(some[i].contains(label)) << i << " " << label;
    EXPECT_LE(some[i].size(), votes.size() + 6);
    double sum = 0.0, full_sum = 0.0;  // under softmax, the candidates share all probability
    for (const auto& [label, score] : some[i]) {
      sum += network_share(some, label);
      full_sum += network_share(full, label);
    }
    for (const auto& [label, score] : some[i]) {
      const double expected = network_share(full, label) / (softmax ? full_sum : 1.0);
      EXPECT_NEAR(network_share(some, label), expected, 0.003 / 0.65) << i << " " << label;
    }
    EXPECT_NEAR(sum, softmax ? 1.0 : sum, 0.015);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Losses, MixedPredictions,
    testing::Values(Case{LossKind::kSigmoid, false, 0.5}, Case{LossKind::kSigmoid, true, 0.5},
                    Case{LossKind::kSoftmax, false, 0.5}, Case{LossKind::kSoftmax, true, 0.5},
                    Case{LossKind::kSigmoid, true, 1.0}, Case{LossKind::kSoftmax, true, 1.0},
                    Case{LossKind::kSigmoid, true, 0.7}),
    [](const auto& tested) { return testing::PrintToString(tested.param); });

// Several tiles of neurons, blocks in a batch, always scored neurons and candidates; all inference modes.
TEST(ManyLabels, EveryWayToAskMixesTheSameVotes) {
  DataSpec spec;
  spec.samples = 900, spec.features = 400, spec.labels = 4200, spec.entries = 6, spec.featureless = 50;
  const Dataset train = make_data(spec);
  spec.seed = 2, spec.samples = 150;
  const Dataset data = make_data(spec);
  for (const bool wide : {false, true}) {
    Config config = config_with_neighbours(LossKind::kSigmoid, wide);
    config.layers.back().hash.bucket_capacity = 512;
    config.data.idf_power = 1.0;
    config.neighbours.count = 300;  // all, so that rounding does not select the last one
    config.train.epochs = 1;
    const Scores own = scores_without(config, train, data, false);
    Trainer trainer(fresh_job(config, train));
    trainer.run({});
    const FeatureScale& scale = scale_of(trainer.network());
    std::vector<float> scaled;
    scaled.reserve(train.feature_entries());
    std::vector<Sample> scaled_train;
    for (std::size_t i = 0; i < train.size(); ++i) {
      const SparseRow row = scale.scaled(train.features(i), scaled);
      scaled_train.push_back({{}, {train.labels(i).begin(), train.labels(i).end()}});
      for (std::size_t f = 0; f < row.ids.size(); ++f)
        scaled_train.back().features.emplace_back(row.ids[f], row.values[f]);
    }
    const Dataset known = dataset_of(scaled_train, 400, 4200);
    Scores all = own;
    for (std::size_t i = 0; i < data.size(); ++i) {
      scaled.clear();
      const Shares votes = naive_votes(config.neighbours, known, scale.scaled(data.features(i), scaled));
      if (votes.empty()) continue;
      for (auto& [label, score] : all[i]) {
        const auto vote = votes.find(label);
        const double p = mean_of(config.neighbours, probability_of(LossKind::kSigmoid, score),
                                 vote == votes.end() ? 0.0 : vote->second);
        score = std::log(p / (1 - p));
      }
    }
    InferenceOptions options;
    options.k = 4;
    for (const int threads : {1, 2}) {
      options.threads = threads;
      const Scores full = predict(trainer.trained(), data, options);
      for (std::size_t i = 0; i < data.size(); ++i) expect_best(full[i], all[i], 4);
    }
    for (const Inference mode : {Inference::kFull, Inference::kLsh}) {
      options.mode = mode;
      options.threads = 1;
      options.low_latency = true;
      const Predictor predictor(trainer.trained(), options);
      Scores whole(data.size());
      predictor.predict(data, [&](std::size_t i, std::span<const Prediction> best) {
        for (const Prediction& p : best) whole[i][p.label] = p.score;
      });
      Predictor::Scratch scratch;
      std::size_t first = 0;
      for (const std::size_t count : {1U, 1U, 20U, 1U, 7U, 120U}) {  // with one scratch
        const std::size_t k = count == 7 ? 9 : 4;
        predictor.predict(data.slice(first, count), {k, false}, scratch,
                          [&](std::size_t s, std::span<const Prediction> best) {
                            std::map<std::uint32_t, double> got;
                            for (const Prediction& p : best) got[p.label] = p.score;
                            EXPECT_EQ(got.size(), best.size());
                            const std::size_t i = first + s;
                            if (mode == Inference::kFull) expect_best(got, all[i], k);
                            double least = 1e9;
                            for (const auto& [label, score] : got) least = std::min(least, score);
                            for (const auto& [label, score] : whole[i]) {
                              const auto at = got.find(label);  // rounding may swap the last one
                              EXPECT_NEAR(at == got.end() ? least : at->second, score, 1e-3) << i;
                            }
                          });
        first += count;
      }
      for (std::size_t i = 0; i < data.size(); ++i) {  // scores of candidates equal those of full inference
        for (const auto& [label, score] : whole[i]) EXPECT_NEAR(score, all[i].at(label), 0.03);
      }
    }
  }
}

// Probabilities so close to 1 that only logits distinguish them; with votes for other labels, and without
// votes.
TEST(SureLabels, KeepTheirOrder) {
  const Dataset train = training_data();
  Config config = config_with_neighbours(LossKind::kSigmoid, false);
  config.train.epochs = 1;
  Trainer trainer(fresh_job(config, train));
  Layer& output = trainer.network().output();
  for (float& w : output.weights().weights) w = 0.0f;
  const Shares votes = naive_votes(config.neighbours, train, train.features(0));
  ASSERT_FALSE(votes.empty());
  std::vector<std::uint32_t> others;  // ascending
  for (std::uint32_t label = 0; label < 40; ++label) {
    *output.bias().row(label) = -2.0f;
    if (!votes.contains(label)) others.push_back(label);
  }
  ASSERT_GE(others.size(), 3U);
  for (std::size_t o = 0; o < 3; ++o) *output.bias().row(others[o]) = std::array{17.0f, 50.0f, 60.0f}[o];
  InferenceOptions options;
  options.k = 3;
  const auto expect_order = [&](const Dataset& one, double first) {
    Predictor(trainer.trained(), options).predict(one, [&](std::size_t, std::span<const Prediction> best) {
      ASSERT_EQ(best.size(), 3U);
      for (std::size_t o = 0; o < 3; ++o) EXPECT_EQ(best[o].label, others[2 - o]);
      EXPECT_NEAR(best[0].score, first, 1e-5);
    });
  };
  const double first = 0.65 * 0.65;  // of a probability of 1, without votes
  expect_order(train.slice(0, 1), std::log(first / (1 - first)));
  expect_order(dataset_of({{{}, {}}}, 60, 40), 60.0);
}

TEST(ScoreOf, IsTheOtherWayRoundAndFinite) {
  for (const LossKind loss : all_losses()) {
    for (const double p : {1e-300, 1e-9, 0.3, 0.999})
      EXPECT_NEAR(probability_of(loss, score_of(loss, p)) / p, 1.0, 1e-12);
    for (const double p : {-1.0, 0.0, 1.0, 1.5})
      EXPECT_TRUE(std::isfinite(static_cast<float>(score_of(loss, p))));
    EXPECT_LT(score_of(loss, 0.0), score_of(loss, 1e-300));
    EXPECT_GE(score_of(loss, 1.0), score_of(loss, 0.999));
  }
}

// Training with given margins is independent of neighbours.
TEST(NeighboursInTraining, ChangeNoWeight) {
  const Dataset train = training_data();
  Config config = config_with_neighbours(LossKind::kSigmoid, true);
  Trainer with(fresh_job(config, train));
  with.run({});
  config.neighbours.share = 0.0;
  Trainer without(fresh_job(config, train));
  without.run({});
  EXPECT_TRUE(with.neighbours());
  EXPECT_FALSE(without.neighbours());
  const auto& a = with.network().output().weights().weights;
  const auto& b = without.network().output().weights().weights;
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
}

}  // namespace
}  // namespace slide::test

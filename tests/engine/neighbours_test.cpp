// Votes of the nearest training samples against cosines with all of them, and predictions against the
// probabilities of a network without them mixed with these votes.
#include "engine/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "engine/inference.h"
#include "engine/trainer.h"
#include "tests/engine/engine_test_util.h"

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

// By its definition, over all samples.
Shares naive_votes(const NeighbourConfig& config, const Dataset& train, const SparseRow& row) {
  std::vector<std::pair<double, std::size_t>> nearest;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const double c = cosine(row, train.features(i));
    if (c > 0 && !train.labels(i).empty()) nearest.emplace_back(-c, i);
  }
  std::sort(nearest.begin(), nearest.end());
  nearest.resize(std::min<std::size_t>(nearest.size(), config.count));
  double sum = std::pow(Neighbours::kStranger, config.power);
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
    EXPECT_NEAR(vote.share, at->second, tolerance);
    ++at;
  }
}

Dataset training_data() {
  DataSpec spec;
  spec.samples = 90, spec.features = 60, spec.labels = 40, spec.entries = 7, spec.unlabelled = 9;
  spec.featureless = 13;
  return make_data(spec);
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
        // Values of bfloat16 are wrong by 2^-9 at most.
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

// Lengths do not matter, nor values that are 0; values below 0 do.
TEST(Neighbours, OnlyDirectionsCount) {
  const Dataset train = dataset_of({{{{0, 100.0f}, {1, 0.0f}}, {0}},
                                    {{{0, -1e-20f}}, {1}},
                                    {{{1, 0.0f}}, {2}},
                                    {{{0, 3e30f}, {2, 3e30f}}, {3}}},
                                   4, 4);
  const NeighbourConfig config{0.3, 20, 1.0};
  const Neighbours neighbours(config, train, FeatureScale());
  EXPECT_EQ(neighbours.samples(), 3U);  // one is 0 all over
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

// Features that half of many samples share are not gone through, but the samples that share all are found.
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
      if (at != expected.end()) found += std::min(double(vote.share), at->second);
    }
    for (const auto& [label, share] : expected) asked += share;
  }
  EXPECT_GT(found, 0.8 * asked);
}

// ---- predictions ----

using Scores = std::vector<std::map<std::uint32_t, double>>;

Scores predict(const Network& network, const Dataset& data, const InferenceOptions& options) {
  Scores scores(data.size());
  std::mutex mutex;
  Predictor(network, options).predict(data, [&](std::size_t i, std::span<const Prediction> best) {
    const std::lock_guard lock(mutex);
    for (std::size_t p = 0; p < best.size(); ++p) {
      EXPECT_TRUE(scores[i].emplace(best[p].label, best[p].score).second) << "label twice";
      EXPECT_TRUE(p == 0 || best[p - 1].score >= best[p].score);
    }
  });
  return scores;
}

// The network's own scores for all labels, of the same training without neighbours.
Scores scores_without(Config config, const Dataset& train, const Dataset& data, bool log_softmax) {
  config.neighbours.share = 0.0;
  Trainer trainer(config, train, nullptr);
  trainer.run({});
  InferenceOptions options;
  options.k = train.label_count();
  options.log_softmax = log_softmax;
  return predict(trainer.network(), data, options);
}

Config config_with_neighbours(LossKind loss, bool wide) {
  Config config = small_wide_config();
  config.loss.kind = loss;
  config.layers.back().wide = wide;
  config.layers.back().lsh = 8;
  config.layers.back().hash = small_hash();
  config.train.epochs = 3;
  config.neighbours = {0.35, 7, 3.0};
  return config;
}

struct Case {
  LossKind loss;
  bool wide;
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << (tested.loss == LossKind::kSoftmax ? "softmax" : "sigmoid") << (tested.wide ? "Wide" : "");
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
  const Config config_ = config_with_neighbours(GetParam().loss, GetParam().wide);

  // By label: the score of the mixed probability.
  Scores expected() {
    const LossKind loss = config_.loss.kind;
    Scores scores = scores_without(config_, train_, data_, needs_log_softmax(loss));
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const Shares votes = naive_votes(config_.neighbours, train_, data_.features(i));
      for (auto& [label, score] : scores[i]) {
        const auto vote = votes.find(label);
        const double p =
            0.65 * probability_of(loss, score) + 0.35 * (vote == votes.end() ? 0.0 : vote->second);
        score = loss == LossKind::kSoftmax ? std::log(p) : std::log(p / (1 - p));
      }
    }
    return scores;
  }
};

// The k best of `all`, but for scores that rounding of the votes may swap.
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

TEST_P(MixedPredictions, AreThoseOfTheMixedProbabilities) {
  Trainer trainer(config_, train_, nullptr);
  trainer.run({});
  const Scores all = expected();
  for (const std::size_t k : {std::size_t{1}, std::size_t{5}, std::size_t{40}}) {
    InferenceOptions options;
    options.k = k;
    options.threads = 2;
    const Scores full = predict(trainer.network(), data_, options);
    options.soon = true;
    options.threads = 1;
    const Predictor soon(trainer.network(), options);
    Predictor::Scratch scratch;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      expect_best(full[i], all[i], k);
      std::map<std::uint32_t, double> alone;
      soon.predict(data_.slice(i, 1), {k, false}, scratch,
                   [&](std::size_t, std::span<const Prediction> best) {
                     for (const Prediction& p : best) alone[p.label] = p.score;
                   });
      expect_best(alone, all[i], k);
    }
  }
}

// Labels that neighbours vote for are scored whether the tables find them or not.
TEST_P(MixedPredictions, OfCandidatesHaveTheVotes) {
  Trainer trainer(config_, train_, nullptr);
  trainer.run({});
  InferenceOptions options;
  options.k = 40;
  const Scores full = predict(trainer.network(), data_, options);
  options.mode = Inference::kLsh;
  options.candidates = 3;
  const Scores some = predict(trainer.network(), data_, options);
  for (std::size_t i = 0; i < data_.size(); ++i) {
    double offset = 0;  // candidates alone share the softmax's probability
    for (const auto& [label, vote] : naive_votes(config_.neighbours, train_, data_.features(i))) {
      ASSERT_TRUE(some[i].contains(label)) << "sample " << i << " label " << label;
      if (config_.loss.kind == LossKind::kSigmoid) {
        EXPECT_NEAR(some[i].at(label), full[i].at(label), 1e-3);
      } else {
        EXPECT_GT(some[i].at(label), full[i].at(label) - 1e-3);
        offset = std::max(offset, std::exp(some[i].at(label)));
      }
    }
    EXPECT_LE(offset, 1.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, MixedPredictions,
                         testing::Values(Case{LossKind::kSigmoid, false}, Case{LossKind::kSigmoid, true},
                                         Case{LossKind::kSoftmax, false}, Case{LossKind::kSoftmax, true}),
                         [](const auto& tested) { return testing::PrintToString(tested.param); });

// Training knows nothing of them.
TEST(NeighboursInTraining, ChangeNoWeight) {
  const Dataset train = training_data();
  Config config = config_with_neighbours(LossKind::kSigmoid, true);
  Trainer with(config, train, nullptr);
  with.run({});
  config.neighbours.share = 0.0;
  Trainer without(config, train, nullptr);
  without.run({});
  EXPECT_TRUE(with.network().neighbours());
  EXPECT_FALSE(without.network().neighbours());
  const auto& a = with.network().output().weights().weights;
  const auto& b = without.network().output().weights().weights;
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
}

}  // namespace
}  // namespace slide::test

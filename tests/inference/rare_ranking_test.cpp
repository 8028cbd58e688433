// Tests of the ranking in favour of rare labels, against sorting by the formula in double precision.
#include "engine/inference/rare_ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/inference/reaching.h"
#include "engine/training/trainer.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

using RareAnswers = std::vector<std::vector<Prediction>>;

// Labels 0 to 249, small ones frequent.
Dataset skewed_data(std::uint64_t seed) {
  Rng rng(seed, Purpose::kTest);
  DatasetArrays arrays;
  for (std::uint32_t i = 0; i < 600; ++i) {
    std::set<std::uint32_t> features, labels;
    for (int n = 0; n < 2; ++n) labels.insert(rng.below(1 + rng.below(1 + rng.below(250))));
    for (const std::uint32_t label : labels)
      features.insert(rng.below(4) == 0 ? 80 + rng.below(20) : label % 80);
    add_sample(arrays, features, std::vector<float>(features.size(), 1.0F), labels);
  }
  return {std::move(arrays), 100, 250};
}

class RareRankingTest : public testing::TestWithParam<LossKind> {
 protected:
  RareRankingTest() {
    Config config = make_config({dense(16), sampled(0, 0, 60)}, 32, 16);
    config.loss.kind = GetParam();
    config.neighbours.share = 0.2;
    config.neighbours.cooccurrence = 0.25;
    config.train.epochs = 3;
    config.train.threads = 2;
    trainer_.emplace(fresh_job(config, data_));
    trainer_->run({});
    inverse_ = std::make_shared<const InversePropensities>(frequencies_, data_.samples(), 0.55, 1.5);
  }

  RareAnswers answers(std::size_t k, double power, bool by_score = false,
                      Inference mode = Inference::kFull) const {
    InferenceOptions options;
    options.k = k;
    options.mode = mode;
    options.threads = 2;
    options.rare = make_rare_ranking(inverse_, power);
    const Predictor predictor(trainer_->trained(), options);
    Predictor::Wanted wanted = predictor.wanted();
    wanted.by_score = by_score;
    RareAnswers all(test_.size());
    std::vector<Predictor::Scratch> scratch;
    predictor.predict(test_, wanted, scratch, [&](std::size_t sample, std::span<const Prediction> best) {
      all[sample].assign(best.begin(), best.end());
    });
    return all;
  }

  // By definition: the k labels of highest P / p^power among the 100 of highest P.
  RareAnswers naive(std::size_t k, double power) const {
    RareAnswers all = answers(100, 0);
    for (auto& best : all) {
      std::vector<std::pair<double, Prediction>> order;
      for (const Prediction& one : best) {
        const double p = GetParam() == LossKind::kSoftmax ? std::exp(double{one.score})
                                                          : 1.0 / (1.0 + std::exp(-double{one.score}));
        order.emplace_back(-p * std::pow((*inverse_)[one.label], power), one);
      }
      std::ranges::stable_sort(order, {}, [](const auto& one) { return one.first; });
      best.clear();
      for (const auto& [value, one] : order) best.push_back(one);
      best.resize(k);
    }
    return all;
  }

  Metrics metrics(double power) const {
    InferenceOptions options;
    options.k = 5;
    options.rare = make_rare_ranking(inverse_, power);
    const std::vector<std::uint32_t> ks = {1, 3, 5};
    return evaluate(trainer_->trained(), test_, options, ks, inverse_);
  }

  static void expect_equal(const RareAnswers& a, const RareAnswers& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].size(), b[i].size()) << i;
      for (std::size_t r = 0; r < a[i].size(); ++r) {
        EXPECT_EQ(a[i][r].label, b[i][r].label) << i << ", rank " << r;
        EXPECT_EQ(a[i][r].score, b[i][r].score) << i << ", rank " << r;
      }
    }
  }

  const Dataset data_ = skewed_data(1), test_ = skewed_data(2);
  const std::vector<std::uint32_t> frequencies_ = data_.label_frequencies();
  std::optional<Trainer> trainer_;
  Metrics::Propensities inverse_;
};

TEST_P(RareRankingTest, IsTheOrderByDefinition) {
  for (const double power : {0.25, 0.5, 1.0}) expect_equal(answers(5, power), naive(5, power));
  expect_equal(answers(100, 1), naive(100, 1));
}

TEST_P(RareRankingTest, PowerZeroChangesNothing) {
  EXPECT_EQ(make_rare_ranking(inverse_, 0), nullptr);
  expect_equal(answers(5, 1, true), answers(5, 0));
}

TEST_P(RareRankingTest, RaisesPropensityScores) {
  const Metrics by_score = metrics(0), rare = metrics(1);
  for (const std::uint32_t k : {1U, 3U, 5U}) EXPECT_GT(rare.psp(k), by_score.psp(k)) << k;
}

// All labels that reach a threshold are found, although the order is not by score.
TEST_P(RareRankingTest, ThresholdsGiveTheSameLabels) {
  const auto reaching = [&](double power) {
    InferenceOptions options;
    options.k = 5;
    options.threads = 1;
    options.rare = make_rare_ranking(inverse_, power);
    const Predictor predictor(trainer_->trained(), options);
    RareAnswers all(test_.size());
    std::vector<Predictor::Scratch> scratch;
    predict_reaching(
        test_, predictor.wanted(), {250, 0}, [](float score) { return score > -3.0F; },
        [&](const Dataset& some, const Predictor::Wanted& wanted, const Predictor::Sink& sink) {
          predictor.predict(some, wanted, scratch, sink);
        },
        [&](std::size_t sample, std::span<const Prediction> best) {
          all[sample].assign(best.begin(), best.end());
        });
    return all;
  };
  expect_equal(reaching(1), reaching(0));
}

INSTANTIATE_TEST_SUITE_P(Losses, RareRankingTest, testing::Values(LossKind::kSigmoid, LossKind::kSoftmax));

}  // namespace
}  // namespace slide::test

// Bounded scoring of single samples gives the answers of exact scoring, over several chunks of neurons, the
// last one partial; without a linear term by falling length of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/training/trainer.h"
#include "tests/inference/similar_labels.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

DataSpec screened_data(std::uint32_t samples, std::uint64_t seed) {
  DataSpec spec;
  spec.samples = samples, spec.features = 50, spec.labels = 1500, spec.entries = 8;
  spec.seed = seed;
  return spec;
}

Trainer screened_trainer(const Dataset& train, double share, Precision weights, bool wide = true) {
  Config config = make_config({dense(24, Activation::kRelu), sampled(0, 20, 12)}, 32, 16);
  config.layers.back().wide = wide;
  config.loss.kind = LossKind::kSigmoid;
  config.neighbours = {share, 7, 3.0};
  config.train.weights = weights;
  config.train.epochs = 2;
  Trainer trainer(fresh_job(config, train));
  trainer.run({});
  return trainer;
}

// Predictions of each sample individually.
std::vector<std::vector<Prediction>> alone(const TrainedNetwork& trained, const Dataset& data, std::size_t k,
                                           bool bounded) {
  InferenceOptions options;
  options.threads = 1;
  options.low_latency = bounded;
  options.bound_first = false;
  const Predictor predictor(trained, options);
  Predictor::Scratch scratch;
  std::vector<std::vector<Prediction>> all(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    predictor.predict(
        data.slice(i, 1), {k, false, false}, scratch,
        [&](std::size_t, std::span<const Prediction> best) { all[i].assign(best.begin(), best.end()); });
  }
  return all;
}

void expect_same(const std::vector<std::vector<Prediction>>& got,
                 const std::vector<std::vector<Prediction>>& want) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].size(), want[i].size());
    for (std::size_t r = 0; r < want[i].size(); ++r) {
      const float tolerance = 2e-5F * std::max(1.0F, std::fabs(want[i][r].score));
      ASSERT_NEAR(got[i][r].score, want[i][r].score, tolerance) << i << ", " << r << " of " << want[i].size();
    }
  }
}

// The rows, with every second value negated.
Dataset with_values_below_0(const Dataset& data) {
  std::vector<Sample> rows;
  for (const float sign : {1.0F, -1.0F}) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      Sample row;
      const SparseRow from = data.features(i);
      for (std::size_t f = 0; f < from.ids.size(); ++f)
        row.features.emplace_back(from.ids[f], f % 2 == 0 ? from.values[f] : sign * from.values[f]);
      row.labels.assign(data.labels(i).begin(), data.labels(i).end());
      rows.push_back(row);
    }
  }
  return dataset_of(rows, data.feature_count(), data.label_count());
}

TEST(SingleSample, GivesTheAnswersOfExactScores) {
  const Dataset train = make_data(screened_data(3000, 1)),
                data = with_values_below_0(make_data(screened_data(60, 2)));
  for (const double share : {0.0, 0.3}) {
    for (const Precision weights : {Precision::kFp32, Precision::kBf16}) {
      for (const bool wide : {false, true}) {
        const Trainer trainer = screened_trainer(train, share, weights, wide);
        for (const std::size_t k : {1, 5, 60, 300, 2000})
          expect_same(alone(trainer.trained(), data, k, true), alone(trainer.trained(), data, k, false));
      }
    }
  }
}

TEST(SingleSample, FindsTheTopKWhereAllLabelsAreSimilar) {
  const Dataset train = make_data(screened_data(3000, 1)), data = make_data(screened_data(60, 2));
  Trainer trainer = screened_trainer(train, 0.3, Precision::kFp32);
  make_labels_similar(trainer.network());
  expect_same(alone(trainer.trained(), data, 5, true), alone(trainer.trained(), data, 5, false));
}

TEST(SingleSample, IsScoredExactlyWhereAWeightIsNotFinite) {
  const Dataset train = make_data(screened_data(300, 1)), data = make_data(screened_data(20, 2));
  for (const bool wide : {false, true}) {
    Trainer trainer = screened_trainer(train, 0, Precision::kFp32, wide);
    trainer.network().output().weights().row(700)[3] = std::numeric_limits<float>::infinity();
    expect_same(alone(trainer.trained(), data, 5, true), alone(trainer.trained(), data, 5, false));
  }
}

}  // namespace
}  // namespace slide::test

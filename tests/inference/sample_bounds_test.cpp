// Single-sample bounded scoring gives the answers of exact scoring, over several ranges of neurons, the last
// one partial.
#include "engine/inference/sample_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
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

Trainer screened_trainer(const Dataset& train, double share, Precision weights) {
  Config config = make_config({dense(24, Activation::kRelu), sampled(0, 20, 12)}, 32, 16);
  config.layers.back().wide = true;
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
                                           bool low_latency) {
  InferenceOptions options;
  options.threads = 1;
  options.low_latency = low_latency;
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

TEST(SampleBounds, GivesTheAnswersOfExactScores) {
  const Dataset train = make_data(screened_data(3000, 1)),
                data = with_values_below_0(make_data(screened_data(60, 2)));
  for (const double share : {0.0, 0.3}) {
    for (const Precision weights : {Precision::kFp32, Precision::kBf16}) {
      const Trainer trainer = screened_trainer(train, share, weights);
      for (const std::size_t k : {1, 5, 60, 300, 2000}) {
        expect_same(alone(trainer.trained(), data, k, true), alone(trainer.trained(), data, k, false));
      }
    }
  }
}

TEST(SampleBounds, FindsTheTopKWhereAllLabelsAreSimilar) {
  const Dataset train = make_data(screened_data(3000, 1)), data = make_data(screened_data(60, 2));
  Trainer trainer = screened_trainer(train, 0.3, Precision::kFp32);
  make_labels_similar(trainer.network());
  expect_same(alone(trainer.trained(), data, 5, true), alone(trainer.trained(), data, 5, false));
}

TEST(SampleBounds, FindsFewOfManyNeurons) {
  const Dataset train = make_data(screened_data(3000, 1));
  Trainer trainer = screened_trainer(train, 0, Precision::kFp32);
  const Layer& output = trainer.network().output();
  const SampleBounds bounds(output, nullptr, nullptr);
  ASSERT_TRUE(bounds.bounded());
  SampleBounds::Scratch scratch = bounds.make_scratch();
  std::vector<float> x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1F * static_cast<float>(i % 5);
  BlockInput in;
  in.x = in.xt = x.data();
  in.width = 24, in.lanes = 1, in.samples = 1, in.ldx = 24;
  std::vector<float> exact(output.size());
  for (std::size_t n = 0; n < exact.size(); ++n) {
    const float* row = output.weights().row(n);
    exact[n] = std::inner_product(x.begin(), x.end(), row, output.bias().row(0)[n]);
  }
  std::vector<float> sorted = exact;
  std::ranges::sort(sorted, std::greater<>());
  ASSERT_TRUE(bounds.bound(in, {}, scratch));
  std::vector<CandidateRescorer::Candidate> found;
  bounds.take_largest(16, scratch, found);
  EXPECT_EQ(found.size(), 16U);
  bounds.take_above(sorted[4], scratch, found);
  EXPECT_LT(found.size(), 200U);
  std::vector<bool> is_found(exact.size(), false);
  for (const CandidateRescorer::Candidate& candidate : found) {
    EXPECT_GE(candidate.bound, exact[candidate.label]);
    EXPECT_FALSE(is_found[candidate.label]) << "twice";
    is_found[candidate.label] = true;
  }
  for (std::size_t n = 0; n < exact.size(); ++n) {
    if (exact[n] >= sorted[4]) {
      EXPECT_TRUE(is_found[n]) << n;
    }
  }
  found.clear();
  bounds.take_above(std::numeric_limits<float>::lowest(), scratch, found);
  EXPECT_EQ(found.size() + static_cast<std::size_t>(std::ranges::count(is_found, true)), exact.size());

  x[3] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(bounds.bound(in, {}, scratch));
}

TEST(SampleBounds, HasNoBoundsWhereAWeightIsNotFinite) {
  const Dataset train = make_data(screened_data(300, 1));
  Trainer trainer = screened_trainer(train, 0, Precision::kFp32);
  trainer.network().output().weights().row(700)[3] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(SampleBounds(trainer.network().output(), nullptr, nullptr).bounded());
}

}  // namespace
}  // namespace slide::test

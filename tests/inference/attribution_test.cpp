// Tests of attribution: complete for piecewise linear networks, and the gradient for others.
#include "engine/inference/attribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/wide/network_start.h"
#include "tests/network/network_test_util.h"

namespace slide {
namespace {

using test::dense;
using test::make_config;

constexpr std::uint32_t kLabels = 9, kFeatures = 23;

Dataset some_data(std::uint32_t dense_columns) {
  test::DataSpec spec;
  spec.samples = 12, spec.features = kFeatures, spec.labels = kLabels, spec.entries = 7;
  spec.dense = dense_columns, spec.featureless = 6;
  return test::make_data(spec);
}

Network started(const Config& config, const Dataset& data) {
  return start_network(config, data, test::shape_of_data(data), 1);
}

// The logits of all labels of each sample.
std::vector<std::vector<double>> logits_of(const Network& network, const Dataset& data) {
  InferenceOptions options;
  options.k = kLabels;
  std::vector<std::vector<double>> logits(data.size(), std::vector<double>(kLabels));
  Predictor(TrainedNetwork(network, nullptr), options).predict(data, [&](std::size_t sample, auto best) {
    for (const Prediction& prediction : best) logits[sample][prediction.label] = prediction.score;
  });
  return logits;
}

// Without biases below the output, ReLU networks are homogeneous: contributions and the label's bias sum to
// its logit.
void expect_whole(const Config& config, std::uint32_t dense_columns) {
  const Dataset data = some_data(dense_columns);
  const Network network = started(config, data);
  const auto logits = logits_of(network, data);
  Attribution attribution;
  std::size_t above = 0;
  for (std::size_t s = 0; s < data.size(); ++s) {
    attribution.begin(network, data, s);
    for (std::uint32_t label = 0; label < kLabels; ++label) {
      double sum = network.output().bias().row(label)[0];
      for (const FeatureContribution& at : attribution.of(label)) {
        sum += at.contribution;
        above += at.contribution > 0 ? 1 : 0;
      }
      EXPECT_NEAR(sum, logits[s][label], 2e-5 + 1e-5 * std::fabs(logits[s][label])) << s << ' ' << label;
    }
  }
  EXPECT_GT(above, data.size());
}

TEST(Attribution, PartsAndBiasAreTheLogit) {
  LayerConfig wide = test::sampled(0, 0, 5);
  wide.wide = true;
  wide.wide_scale = 2.0;
  for (const std::uint32_t columns : {0U, 4U}) {
    expect_whole(make_config({dense(6), dense(0)}, 8, 8), columns);
    expect_whole(make_config({dense(6), dense(5), dense(7), dense(0)}, 8, 8), columns);
  }
  expect_whole(make_config({dense(0)}, 8, 8), 0);
  expect_whole(make_config({dense(0)}, 8, 8), kFeatures);
  expect_whole(make_config({dense(6), wide}, 8, 8), 0);
  expect_whole(make_config({test::sampled(10, 4, 3), dense(0)}, 8, 8), 0);  // a first layer by neuron
}

// The sample with `more` added to its i-th feature's value.
Dataset with_more(const Dataset& data, std::size_t sample, std::size_t i, float more) {
  test::Sample changed;
  const SparseRow row = data.features(sample);
  for (std::size_t f = 0; f < row.ids.size(); ++f)
    changed.features.emplace_back(row.ids[f], row.values[f] + (f == i ? more : 0.0f));
  return test::dataset_of({changed}, kFeatures, kLabels);
}

TEST(Attribution, IsTheSlopeOfCurvedLayers) {
  constexpr float kStep = 1e-2f;
  const Dataset data = some_data(0);
  for (const Activation activation : {Activation::kTanh, Activation::kSigmoid}) {
    Network network =
        started(make_config({dense(6, activation), dense(5, activation), dense(0)}, 8, 8), data);
    test::randomise_biases(network);
    Attribution attribution;
    for (std::size_t s = 0; s < 4; ++s) {
      attribution.begin(network, data, s);
      const SparseRow row = data.features(s);
      for (std::size_t i = 0; i < row.ids.size(); ++i) {
        const auto more = logits_of(network, with_more(data, s, i, kStep));
        const auto less = logits_of(network, with_more(data, s, i, -kStep));
        for (std::uint32_t label = 0; label < kLabels; ++label) {
          const double slope = (more[0][label] - less[0][label]) / (2 * kStep);
          const FeatureContribution at = attribution.of(label)[i];
          EXPECT_EQ(at.feature, row.ids[i]);
          EXPECT_NEAR(at.contribution, slope * row.values[i], 2e-4) << s << ' ' << label;
        }
      }
    }
  }
}

TEST(Attribution, TheLargestAreThoseThatSpeakForALabel) {
  const std::vector<FeatureContribution> parts = {{7, 1.0}, {2, -3.0}, {5, 2.0}, {1, 1.0}, {4, 0.0}};
  const std::vector<FeatureContribution> found = largest(parts, 2);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].feature, 5U);
  EXPECT_EQ(found[1].feature, 1U);
  EXPECT_EQ(largest(parts, 10).size(), 3U);
  EXPECT_TRUE(largest({}, 3).empty());
}

}  // namespace
}  // namespace slide

// Tests of feature scaling: the factors, and equality of a network with scaled rows and one trained on data
// scaled by hand.
#include "engine/statistics/feature_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/training/trainer.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

// Feature 0 is in all 3 samples, 1 in two, 2 in one, 3 in none.
Dataset tiny_data() {
  DatasetArrays arrays;
  add_sample(arrays, {0, 1, 2}, {1.0f, 2.0f, 3.0f}, {0});
  add_sample(arrays, {0, 1}, {0.5f, -1.0f}, {1});
  add_sample(arrays, {0}, {4.0f}, {});
  return {std::move(arrays), 4, 2};
}

double rarity(double samples, double with) {
  return 1.0 + std::log((samples + 1.0) / (with + 1.0));
}

TEST(FeatureScale, FactorsAreAPowerOfTheRarity) {
  const Dataset data = tiny_data();
  for (const double power : {-4.0, -0.5, 1.0, 2.0}) {
    const FeatureScale scale(data, power, false);
    ASSERT_EQ(scale.factors().size(), 4u);
    EXPECT_EQ(scale.factors()[0], 1.0f);  // in every sample
    for (int f = 0; f < 4; ++f) {
      const double expected = std::pow(rarity(3, 3 - f), power);
      EXPECT_NEAR(scale.factors()[static_cast<std::size_t>(f)], expected, 1e-6 * expected);
    }
  }
}

TEST(FeatureScale, RowsAreMultipliedAndScaledToUnitLength) {
  const Dataset data = tiny_data();
  const double r1 = rarity(3, 2), r2 = rarity(3, 1), length = std::sqrt(1 + 4 * r1 * r1 + 9 * r2 * r2);
  for (const bool normalize : {false, true}) {
    std::vector<float> values = {7.0f};
    values.reserve(10);
    const FeatureScale scale(data, 1.0, normalize);
    const SparseRow row = scale.scaled(data.features(0), values);
    const double by = normalize ? 1.0 / length : 1.0;
    ASSERT_EQ(row.values.size(), 3u);
    EXPECT_EQ(row.ids.data(), data.features(0).ids.data());
    EXPECT_EQ(row.values.data(), values.data() + 1);
    EXPECT_NEAR(row.values[0], by, 1e-6);
    EXPECT_NEAR(row.values[1], by * 2 * r1, 1e-6);
    EXPECT_NEAR(row.values[2], by * 3 * r2, 1e-6);
    const SparseRow next = scale.scaled(data.features(1), values);
    EXPECT_EQ(next.values.data(), values.data() + 4);
    EXPECT_EQ(row.values[0], values[1]);
  }
}

TEST(FeatureScale, PowerZeroLeavesRowsWhereTheyAre) {
  const Dataset data = tiny_data();
  std::vector<float> values;
  for (const FeatureScale& scale : {FeatureScale(), FeatureScale(data, 0.0, true)}) {
    EXPECT_FALSE(scale.active());
    EXPECT_EQ(scale.scaled(data.features(0), values).values.data(), data.features(0).values.data());
    EXPECT_TRUE(values.empty());
  }
}

Dataset training_data() {
  DataSpec spec;
  spec.samples = 96, spec.features = 60, spec.labels = 150, spec.entries = 7, spec.featureless = 13;
  return make_data(spec);
}

// `data` with the factors from the training data `train`.
Dataset scaled_by_hand(const Dataset& data, const Dataset& train, double power) {
  std::vector<double> with(train.feature_count());
  for (std::size_t i = 0; i < train.size(); ++i) {
    for (const std::uint32_t f : train.features(i).ids) with[f] += 1;
  }
  DatasetArrays arrays;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const SparseRow row = data.features(i);
    std::vector<double> values;
    double square = 0.0;
    for (std::size_t k = 0; k < row.ids.size(); ++k) {
      const auto factor = static_cast<float>(std::pow(rarity(double(train.size()), with[row.ids[k]]), power));
      values.push_back(row.values[k] * factor);
      square += values.back() * values.back();
    }
    std::vector<float> unit;
    for (const double value : values) unit.push_back(static_cast<float>(value / std::sqrt(square)));
    const auto labels = data.labels(i);
    add_sample(arrays, {row.ids.begin(), row.ids.end()}, unit, {labels.begin(), labels.end()});
  }
  return {std::move(arrays), data.feature_count(), data.label_count()};
}

using Scores = std::vector<std::vector<float>>;

// Scores of all labels of all samples, by label. `alone`: single-sample scoring, with bounds.
Scores scores_of(const Network& network, const Dataset& data, bool alone) {
  InferenceOptions options;
  options.k = network.labels();
  options.low_latency = alone;
  options.threads = 2;
  const Predictor predictor({network, nullptr}, options);
  Scores all(data.size(), std::vector<float>(network.labels()));
  const auto keep = [&](std::size_t sample, std::span<const Prediction> best) {
    for (const Prediction& p : best) all[sample][p.label] = p.score;
  };
  if (!alone) {
    predictor.predict(data, keep);
    return all;
  }
  Predictor::Scratch scratch;
  for (std::size_t i = 0; i < data.size(); ++i) {
    predictor.predict(data.slice(i, 1), {network.labels(), false}, scratch,
                      [&](std::size_t, std::span<const Prediction> best) { keep(i, best); });
  }
  return all;
}

void expect_near(const Scores& a, const Scores& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t l = 0; l < a[i].size(); ++l) ASSERT_NEAR(a[i][l], b[i][l], 2e-4) << "sample " << i;
  }
}

std::vector<std::vector<LayerConfig>> shapes() {
  std::vector<std::vector<LayerConfig>> all = {{dense(24), dense(0)},
                                               {dense(24), sampled(0, 0, 40)},
                                               {sampled(40, 0, 20), dense(0)},
                                               {sampled(0, 0, 40)}};
  for (const std::size_t narrow : {0, 1}) {
    all.push_back(all[narrow]);
    all.back().back().wide = true;
    all.back().back().wide_features = 5;
    all.back().back().wide_scale = 3.0;
  }
  return all;
}

// Without hash tables, whose candidates would change with rounding.
TEST(FeatureScale, TrainingIsThatOnDataScaledByHand) {
  const Dataset train = training_data();
  DataSpec other;
  other.samples = 40, other.features = 60, other.labels = 150, other.entries = 9, other.seed = 2;
  const Dataset test = make_data(other);
  for (const double power : {-0.5, 2.0}) {
    const Dataset train_by_hand = scaled_by_hand(train, train, power);
    const Dataset test_by_hand = scaled_by_hand(test, train, power);
    for (std::size_t shape = 0; shape < shapes().size(); ++shape) {
      SCOPED_TRACE("power " + std::to_string(power) + " shape " + std::to_string(shape));
      Config config = make_config(shapes()[shape], 32, 16);
      config.data.crosses = 0;  // their values are square roots of the features' values
      config.train.epochs = 3;
      config.train.threads = 2;
      Trainer by_hand(fresh_job(config, train_by_hand));
      config.data.idf_power = power;
      Trainer scaled(fresh_job(config, train));
      by_hand.run({});
      scaled.run({});
      const Scores expected = scores_of(by_hand.network(), test_by_hand, false);
      expect_near(scores_of(scaled.network(), test, false), expected);
      expect_near(scores_of(scaled.network(), test, true), expected);
      config.data.idf_power = 0.0;
      Trainer plain(fresh_job(config, train));
      plain.run({});
      EXPECT_NE(scores_of(plain.network(), test, false), scores_of(scaled.network(), test, false));
    }
  }
}

// With as many candidates as labels, the tables have no effect.
TEST(FeatureScale, LshInferenceScoresTheSameFeatures) {
  const Dataset train = training_data();
  for (std::vector<LayerConfig> layers : {std::vector{dense(24), sampled(0, 20, 12)}, {sampled(0, 20, 12)}}) {
    layers.back().wide = layers.size() > 1;
    Config config = make_config(layers, 32, 16);
    for (LayerConfig& layer : config.layers) layer.hash.bucket_capacity = 256;
    config.data.idf_power = 1.0;
    Trainer trainer(fresh_job(config, train));
    trainer.run({});
    const Scores full = scores_of(trainer.network(), train, false);
    InferenceOptions options;
    options.mode = Inference::kLsh;
    options.candidates = 149;
    std::size_t found = 0;
    Predictor(trainer.trained(), options)
        .predict(train, [&](std::size_t sample, std::span<const Prediction> best) {
          for (const Prediction& p : best) EXPECT_NEAR(p.score, full[sample][p.label], 1e-4);
          if (sample == 0) found = best.size();
        });
    EXPECT_GT(found, 0u);
  }
}

}  // namespace
}  // namespace slide::test

// Tests of data.label_weights in whole trainings: weights of 1 change nothing, powers equal the same weights
// from a file, for any number of threads and with shards, and rare labels gain.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "datasets/sidecar/label_weights.h"
#include "engine/inference/inference.h"
#include "tests/training/training_trace.h"

namespace slide::test {
namespace {

std::vector<Config> weighed_configs() {
  std::vector<Config> configs;
  for (const LossKind loss : all_losses()) {
    for (const std::uint32_t shards : {1, 5}) {
      Config config = full_config({dense(37, Activation::kRelu, 0.2), sampled(0, 20, 12)});
      config.loss.kind = loss;
      config.loss.gradient_threshold = 0.1;
      config.layers.back().wide = loss == LossKind::kSigmoid;
      config.train.shards = shards;
      configs.push_back(config);
    }
  }
  return configs;
}

Dataset with_these(const Dataset& data, std::vector<float> weights) {
  return data.with_label_weights(std::make_shared<const std::vector<float>>(std::move(weights)));
}

TEST(LabelWeights, ThatAreAllOneChangeNothing) {
  DataSpec spec = wide_data();
  spec.unlabelled = 11;
  for (const bool weighted : {false, true}) {
    spec.weighted = weighted;
    const Dataset data = make_data(spec);
    const Dataset ones = with_these(data, std::vector<float>(spec.labels, 1.0F));
    for (const Config& config : weighed_configs())
      EXPECT_TRUE(same_bits(train(config, data), train(config, ones)));
  }
}

TEST(LabelWeights, OfAPowerAreThoseOfAFile) {
  const Dataset data = make_data(wide_data());
  const auto frequencies = data.label_frequencies();
  const Dataset of_file = with_these(data, power_weights(frequencies, frequencies, -0.5));
  for (Config config : weighed_configs()) {
    const Trace plain = train(config, data), weighed = train(config, of_file);
    EXPECT_FALSE(same_bits(plain, weighed));
    config.data.label_weights.power = -0.5;
    EXPECT_TRUE(same_bits(train(config, data), weighed));
  }
}

TEST(LabelWeights, AreTheSameBitsOnAllThreads) {
  DataSpec spec = wide_data();
  spec.label_weights = spec.weighted = true;
  for (Config config : weighed_configs()) {
    expect_same_on_all_threads(config, spec);
    config.data.label_weights.power = -0.7;
    expect_same_on_all_threads(config, spec);
  }
}

// Among equal samples, one in ten has a rare label.
TEST(LabelWeights, OfANegativePowerFavourRareLabels) {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < 320; ++i) {
    const std::uint32_t group = i % 4;
    samples.push_back({{{group, 1.0F}}, {group * 2 + (i / 4 % 10 == 0 ? 1 : 0)}});
  }
  const Dataset data = dataset_of(samples, 4, 8);
  for (const LossKind loss : all_losses()) {
    std::vector<double> odds;  // of the rare label against the frequent one
    for (const double power : {0.5, 0.0, -0.5, -1.0}) {
      Config config = make_config({dense(8), dense(0)}, 32, 16);
      config.loss.kind = loss;
      config.train.epochs = 40;
      config.train.threads = 1;
      config.data.label_weights.power = power;
      Trainer trainer(fresh_job(config, data));
      trainer.run({});
      InferenceOptions options;
      options.k = 8;
      options.threads = 1;
      std::vector<double> scores(8);
      Predictor(trainer.trained(), options).predict(data.slice(1, 1), [&](std::size_t, const auto& best) {
        for (const Prediction& one : best) scores[one.label] = one.score;
      });
      odds.push_back(scores[3] - scores[2]);
    }
    for (std::size_t i = 1; i < odds.size(); ++i) EXPECT_GT(odds[i], odds[i - 1] + 0.2) << i;
    EXPECT_LT(odds[1], -1.0);  // nine samples to one
  }
}

}  // namespace
}  // namespace slide::test

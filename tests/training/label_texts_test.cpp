// Tests of label texts in whole trainings: bitwise equal results for any number of threads and with shards,
// and prediction of labels without samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "datasets/label_features.h"
#include "datasets/sidecar/label_texts.h"
#include "engine/inference/inference.h"
#include "tests/training/training_trace.h"

namespace slide::test {
namespace {

TEST(LabelTextRows, AreTheSameBitsOnAllThreads) {
  const Dataset data = make_data(wide_data());
  DataSpec spec = wide_data();
  spec.samples = 70, spec.seed = 9;
  const Dataset all = with_label_texts(data, make_data(spec), 0.5F, 2);
  for (const std::uint32_t shards : {1, 5}) {
    Config config = full_config({dense(37), sampled(0, 20, 12)});
    config.train.shards = shards;
    config.train.threads = 1;
    const Trace one = train(config, all);
    EXPECT_FALSE(same_bits(one, train(config, data)));
    for (const std::uint32_t threads : {2, 3}) {
      config.train.threads = threads;
      EXPECT_TRUE(same_bits(one, train(config, all))) << threads << " threads";
    }
  }
}

// Labels 0 to 3 have samples, 4 to 7 only texts.
TEST(LabelTextRows, TeachLabelsWithoutASample) {
  std::vector<Sample> samples, texts;
  for (std::uint32_t i = 0; i < 160; ++i) samples.push_back({{{i % 4, 1.0F}, {8 + i % 5, 0.5F}}, {i % 4}});
  for (std::uint32_t label = 0; label < 8; ++label) texts.push_back({{{label, 1.0F}}, {label}});
  const Dataset plain = dataset_of(samples, 16, 8);
  for (const float weight : {0.0F, 1.0F}) {
    const Dataset data = with_label_texts(plain, dataset_of(texts, 16, 8), weight, 1);
    Config config = make_config({dense(8), dense(0)}, 32, 16);
    config.loss.kind = LossKind::kSigmoid;
    config.layers.back().wide = true;
    config.layers.back().wide_fit = 0;
    config.layers.back().wide_scale = 4;
    config.train.epochs = 20;
    config.train.threads = 1;
    Trainer trainer(fresh_job(config, data));
    EXPECT_EQ(trainer.labelled(), 160U);
    EXPECT_EQ(trainer.texts(), weight > 0 ? 8U : 0U);
    EXPECT_EQ(trainer.unlabelled(), 0U);
    EXPECT_EQ(trainer.shape().samples, 160U);
    EXPECT_EQ(trainer.shape().label_frequencies[5], 0U);
    trainer.run({});
    std::vector<Sample> asked;
    for (std::uint32_t label = 0; label < 8; ++label) asked.push_back({{{label, 1.0F}, {8, 0.5F}}, {label}});
    InferenceOptions options;
    options.k = 8;
    options.threads = 1;
    std::vector<std::vector<double>> scores(8, std::vector<double>(8));
    Predictor(trainer.trained(), options)
        .predict(dataset_of(asked, 16, 8), [&](std::size_t i, const auto& found) {
          for (const Prediction& one : found) scores[i][one.label] = one.score;
        });
    for (std::uint32_t label = 0; label < 8; ++label) {  // labels with samples, then labels without
      const auto first = scores[label].begin() + (label < 4 ? 0 : 4);
      EXPECT_EQ(std::max_element(first, first + 4) - scores[label].begin(), label) << weight;
    }
  }
}

}  // namespace
}  // namespace slide::test

// Samples that come alone and are screened get the answers of exact scores, over several stretches of neurons
// of which the last is not whole.
#include "engine/inference/screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/training/trainer.h"
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
  Trainer trainer(config, train, nullptr);
  trainer.run({});
  return trainer;
}

// Of each sample by itself.
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

TEST(Screen, GivesTheAnswersOfExactScores) {
  const Dataset train = make_data(screened_data(3000, 1)), data = make_data(screened_data(60, 2));
  for (const double share : {0.0, 0.3}) {
    for (const Precision weights : {Precision::kFp32, Precision::kBf16}) {
      const Trainer trainer = screened_trainer(train, share, weights);
      for (const std::size_t k : {1, 5, 60, 300, 2000}) {
        const auto want = alone(trainer.trained(), data, k, false),
                   got = alone(trainer.trained(), data, k, true);
        for (std::size_t i = 0; i < data.size(); ++i) {
          ASSERT_EQ(got[i].size(), want[i].size());
          for (std::size_t r = 0; r < want[i].size(); ++r) {
            const float tolerance = 2e-5F * std::max(1.0F, std::fabs(want[i][r].score));
            ASSERT_NEAR(got[i][r].score, want[i][r].score, tolerance) << i << ", " << r << " of " << k;
          }
        }
      }
    }
  }
}

TEST(Screen, FindsFewOfManyNeurons) {
  const Dataset train = make_data(screened_data(3000, 1));
  Trainer trainer = screened_trainer(train, 0, Precision::kFp32);
  const Layer& output = trainer.network().output();
  const Screen screen(output, nullptr);
  ASSERT_TRUE(screen.bounded());
  Screen::Scratch scratch = screen.make_scratch();
  std::vector<float> x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1F * static_cast<float>(i % 5);
  BlockInput in;
  in.x = in.xt = x.data();
  in.width = 24, in.lanes = 1, in.samples = 1, in.ldx = 24;
  std::vector<std::uint32_t> found;
  screen.find(in, {}, 5, scratch, found);
  EXPECT_GE(found.size(), 5U);
  EXPECT_LT(found.size(), 200U);
  EXPECT_TRUE(std::ranges::is_sorted(found));
}

TEST(Screen, HasNoBoundsWhereAWeightIsNotFinite) {
  const Dataset train = make_data(screened_data(300, 1));
  Trainer trainer = screened_trainer(train, 0, Precision::kFp32);
  trainer.network().output().weights().row(700)[3] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(Screen(trainer.network().output(), nullptr).bounded());
}

}  // namespace
}  // namespace slide::test

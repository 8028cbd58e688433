// Bitwise equal results for any number of threads.
#include <gtest/gtest.h>

#include "tests/training/training_trace.h"

namespace slide::test {
namespace {

// Widths that are not multiples of a register: a row's sums must not depend on adjacent rows.
TEST(Determinism, DenseAndSampled) {
  expect_same_on_all_threads(full_config({dense(37, Activation::kRelu, 0.2), sampled(0, 20, 12)}));
}

TEST(Determinism, SingleSamples) {
  Config config = full_config({dense(20, Activation::kTanh, 0.2), sampled(0, 12, 8)});
  config.train.batch_size = 16;
  config.train.block_size = 1;
  expect_same_on_all_threads(config);
}

TEST(Determinism, SampledHiddenLayers) {
  expect_same_on_all_threads(
      full_config({dense(21), sampled(45, 12, 9, Activation::kTanh, 0.2), dense(19), sampled(0, 20, 12)}));
  expect_same_on_all_threads(full_config({sampled(37, 12, 9, Activation::kTanh, 0.2), dense(0)}));
}

TEST(Determinism, EveryOptimizerAndLoss) {
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kMomentum, OptimizerKind::kAdam}) {
    Config config = full_config({dense(18, Activation::kRelu, 0.2), sampled(0, 20, 12)});
    config.optimizer.kind = kind;
    config.layers.back().frequency = 6;
    config.loss.kind = LossKind::kSigmoid;
    config.train.epochs = 2;
    expect_same_on_all_threads(config);
  }
}

TEST(Determinism, Bf16) {
  for (const OptimizerKind kind : {OptimizerKind::kAdagrad, OptimizerKind::kAdam}) {
    Config config = full_config({dense(37, Activation::kRelu, 0.2), sampled(0, 20, 12)});
    config.optimizer.kind = kind;
    config.train.weights = Precision::kBf16;
    expect_same_on_all_threads(config);
  }
}

TEST(Determinism, RoundedDeltas) {
  for (const LossKind loss : all_losses()) {
    Config config = full_config({dense(37, Activation::kRelu, 0.2), sampled(0, 20, 12)});
    config.loss.kind = loss;
    config.loss.gradient_threshold = 0.2;
    expect_same_on_all_threads(config);
  }
}

// Tiles of samples and neurons: several per block, and some of the last block without samples.
TEST(Determinism, ManySlicesOfABlock) {
  for (const LossKind loss : all_losses()) {
    Config config = full_config({dense(37, Activation::kRelu, 0.2), sampled(0, 20, 12)});
    config.loss.kind = loss;
    config.layers.back().wide = true;
    config.layers.back().wide_features = 20;
    config.train.batch_size = 100;  // blocks of 48, 48 and 4
    config.train.block_size = 48;
    config.train.epochs = 2;
    expect_same_on_all_threads(config);
  }
}

TEST(Determinism, NetworksInParts) {
  for (const LossKind loss : all_losses()) {
    Config config = full_config({dense(37, Activation::kRelu, 0.2), sampled(0, 20, 12)});
    config.loss.kind = loss;
    config.layers.back().wide = true;
    config.train.shards = 5;
    config.train.block_size = 32;  // the last block of a batch is partial
    expect_same_on_all_threads(config);
    config.layers.erase(config.layers.begin());
    expect_same_on_all_threads(config);
  }
}

TEST(Determinism, RoundedDeltasAndBf16InParts) {
  for (const LossKind loss : all_losses()) {
    Config config = full_config({dense(37), sampled(0, 20, 12)});
    config.loss.kind = loss;
    config.loss.gradient_threshold = 0.2;
    config.train.weights = Precision::kBf16;
    config.train.shards = 5;
    expect_same_on_all_threads(config);
  }
}

TEST(Determinism, DenseFeatures) {
  for (const std::uint32_t dense_columns : {120, 57}) {  // all features, and together with sparse ones
    DataSpec spec = wide_data();
    spec.dense = dense_columns;
    for (const Precision weights : {Precision::kFp32, Precision::kBf16}) {
      Config config = full_config({dense(37, Activation::kRelu, 0.2), sampled(0, 20, 12)});
      config.train.weights = weights;
      config.train.batch_size = 100;  // blocks of 48, 48 and 4
      config.train.block_size = 48;
      expect_same_on_all_threads(config, spec);
      if (dense_columns < spec.features) continue;
      config.layers.erase(config.layers.begin());
      expect_same_on_all_threads(config, spec);
    }
  }
}

TEST(Determinism, SeedsDiffer) {
  const Dataset data = make_data(wide_data());
  Config config = full_config({dense(20), sampled(0, 20, 12)});
  const Trace first = train(config, data);
  EXPECT_TRUE(same_bits(first, train(config, data)));
  config.train.seed = 4;
  const Trace second = train(config, data);
  EXPECT_NE(first.losses, second.losses);
  EXPECT_NE(first.weights[0], second.weights[0]);
}

}  // namespace
}  // namespace slide::test

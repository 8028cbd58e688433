// Tests of whole steps of a sharded network: against one shard, and across processes.
#include <gtest/gtest.h>
#include "engine/wide/linear_term.h"
#include "engine/wide/network_start.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/network/fake_cluster.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

using Numbers = std::vector<float>;

Dataset steps_data(std::uint32_t features = 170) {
  DataSpec spec;
  spec.samples = 96, spec.features = features, spec.labels = 83, spec.entries = 14, spec.unlabelled = 9,
  spec.featureless = 13;
  return make_data(spec);
}

Config steps_config(std::uint32_t parts, std::vector<LayerConfig> layers) {
  Config config = make_config(std::move(layers), 48, 16);
  config.train.shards = parts;
  config.train.threads = 1;
  config.optimizer.learning_rate = 0.1;
  config.loss.prior = 0.25;
  return config;
}

// State of a process: concatenated over all processes it is the whole network, except the bias.
struct Held {
  Numbers input, input_bias, output, bias, wide;
  std::vector<double> losses, active;
};

Numbers rows_of(const Parameters& p) {
  Numbers all(p.rows * p.columns);
  for (std::size_t r = 0; r < p.rows; ++r) p.load_row(r, all.data() + r * p.columns);
  return all;
}

void hold(const Network& network, Held& held) {
  if (network.input()) {
    held.input = rows_of(network.input()->weights());
    held.input_bias = rows_of(network.input()->bias());
  }
  held.output = rows_of(network.output().weights());
  held.bias = rows_of(network.output().bias());
  if (linear_term_of(network.output()) != nullptr) {
    const auto& weights = linear_term_of(network.output())->storage().weights;
    held.wide.assign(weights.begin(), weights.end());
  }
}

// Some steps of a process, the last ones partial; the tables follow after each.
Held steps(const Config& config, const Dataset& data, std::uint64_t count, Cluster* cluster) {
  Network network = start_network(config, data, shape_of_data(data), 1, cluster);
  Stepper stepper(network, data, 3, cluster);
  Optimizer optimizer(config.optimizer);
  Held held;
  for (std::uint64_t step = 0; step < count; ++step) {
    optimizer.set_rate(config.optimizer.learning_rate);
    optimizer.set_noise(config.train.seed, step);
    held.losses.push_back(stepper.train(step % 2 * 48, step % 3 == 2 ? 11 : 48 - step, step));
    held.active.push_back(stepper.active());
    stepper.update(optimizer);
    for (std::size_t l = 0; l < network.layers().size(); ++l) {
      if (step % 4 == 3) {
        stepper.training().rebuild_index(network, l, step, 1);
      } else {
        stepper.training().rehash(network, l, 1);
      }
    }
  }
  hold(network, held);
  return held;
}

// ---- against one shard ----

double norm(const Numbers& x) {
  double sum = 0.0;
  for (const float value : x) sum += double(value) * value;
  return std::sqrt(sum);
}

Numbers minus(const Numbers& x, const Numbers& y) {
  Numbers difference(x.size());
  EXPECT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) difference[i] = x[i] - y[i];
  return difference;
}

// A step moves weights equally, within a relative tolerance `share`.
void expect_same_move(const Numbers& before, const Numbers& one, const Numbers& parts, double share) {
  if (before.empty()) return;
  const Numbers want = minus(one, before), got = minus(parts, before);
  EXPECT_GT(norm(want), 0.0);
  EXPECT_LE(norm(minus(got, want)), share * norm(want));
}

// With every neuron active, shards sample nothing: their step equals that of the whole network.
void expect_same_step(Config config, double share) {
  const Dataset data = steps_data();
  const Held before = steps(config, data, 0, nullptr), one = steps(config, data, 1, nullptr);
  for (const std::uint32_t parts : {2, 3, 7}) {
    SCOPED_TRACE(std::to_string(parts) + " parts");
    config.train.shards = parts;
    const Held start = steps(config, data, 0, nullptr), got = steps(config, data, 1, nullptr);
    EXPECT_EQ(start.input, before.input);
    EXPECT_EQ(start.output, before.output);
    EXPECT_EQ(start.wide, before.wide);
    EXPECT_NEAR(got.losses[0], one.losses[0], 0.2 * share * one.losses[0]);
    EXPECT_EQ(got.active, one.active);
    expect_same_move(before.input, one.input, got.input, share);
    expect_same_move(before.input_bias, one.input_bias, got.input_bias, share);
    expect_same_move(before.output, one.output, got.output, share);
    expect_same_move(before.bias, one.bias, got.bias, share);
    expect_same_move(before.wide, one.wide, got.wide, share);
  }
}

LayerConfig wide_output(std::uint32_t lsh, std::uint32_t uniform) {
  LayerConfig layer = sampled(0, lsh, uniform);
  layer.wide = true;
  layer.wide_features = 30;
  layer.wide_negatives = 12;
  layer.wide_fit = 0.5;
  return layer;
}

TEST(PartSteps, AreThoseOfOnePartWhereAllNeuronsAreActive) {
  for (const LossKind loss : all_losses()) {
    for (const LayerConfig& output : {dense(0), sampled(0, 0, 600), wide_output(0, 600)}) {
      Config config = steps_config(1, {output});
      config.loss.kind = loss;
      config.optimizer.kind = OptimizerKind::kSgd;
      expect_same_step(config, 1e-4);
      config.layers.insert(config.layers.begin(), dense(24, Activation::kTanh, 0.2));
      expect_same_step(config, 1e-2);
    }
  }
}

// ---- across processes ----

void append(const Numbers& from, Numbers& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// The steps of `ranks` processes are bitwise equal to those of one.
void expect_same_on_ranks(const Config& config, const Dataset& data, int ranks) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks");
  const Held one = steps(config, data, 6, nullptr);
  std::vector<Held> each(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](FakeCluster& cluster) {
    each[static_cast<std::size_t>(cluster.rank())] = steps(config, data, 6, &cluster);
  });
  Held all;
  for (const Held& held : each) {
    EXPECT_EQ(held.losses, one.losses);
    EXPECT_EQ(held.active, one.active);
    EXPECT_TRUE(held.input_bias == one.input_bias);
    append(held.input, all.input);
    append(held.output, all.output);
    append(held.bias, all.bias);
    append(held.wide, all.wide);
  }
  EXPECT_TRUE(all.input == one.input);
  EXPECT_TRUE(all.output == one.output);
  EXPECT_TRUE(all.bias == one.bias);
  EXPECT_TRUE(all.wide == one.wide);
}

void expect_same_on_all_ranks(const Config& config, const Dataset& data) {
  for (const int ranks : {2, 3, 5}) expect_same_on_ranks(config, data, ranks);
}

TEST(PartSteps, AreTheSameHoweverManyProcessesShareThem) {
  const Dataset data = steps_data();
  for (const LossKind loss : all_losses()) {
    for (const LayerConfig& output : {dense(0), sampled(0, 20, 12), wide_output(20, 12)}) {
      Config config = steps_config(5, {output});
      config.loss.kind = loss;
      expect_same_on_all_ranks(config, data);
      config.layers.insert(config.layers.begin(), dense(24, Activation::kRelu, 0.2));
      expect_same_on_all_ranks(config, data);
    }
  }
}

TEST(PartSteps, AreTheSameWithEveryOptimizerAndPrecision) {
  const Dataset data = steps_data();
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kMomentum, OptimizerKind::kAdagrad, OptimizerKind::kAdam}) {
    for (const Precision weights : {Precision::kFp32, Precision::kBf16}) {
      Config config = steps_config(5, {dense(37), wide_output(20, 12)});
      config.optimizer.kind = kind;
      config.optimizer.learning_rate = 0.02;
      config.train.weights = weights;
      expect_same_on_ranks(config, data, 3);
    }
  }
}

TEST(PartSteps, AreTheSameWithRoundedDeltasAndScaledFeatures) {
  const Dataset data = steps_data();
  for (const LossKind loss : all_losses()) {
    Config config = steps_config(5, {dense(24), wide_output(20, 12)});
    config.loss.kind = loss;
    config.loss.gradient_threshold = 0.3;
    config.data.idf_power = 1.0;
    config.layers.back().frequency = 6;
    expect_same_on_ranks(config, data, 3);
  }
}

TEST(PartSteps, OfSingleSamplesAndOfLargeBlocks) {
  const Dataset data = steps_data();
  for (const std::uint32_t block : {1, 32}) {
    Config config = steps_config(3, {dense(24), sampled(0, 20, 12)});
    config.train.block_size = block;
    for (const int ranks : {2, 3}) expect_same_on_ranks(config, data, ranks);
  }
}

// Shards are whole cache lines of features: there may be fewer lines than shards.
TEST(PartSteps, ProcessesWithoutFeatures) {
  const Dataset data = steps_data(20);
  expect_same_on_all_ranks(steps_config(5, {dense(24), sampled(0, 20, 12)}), data);
}

TEST(PartSteps, APartForEachNeuron) {
  const Dataset data = steps_data();
  expect_same_on_ranks(steps_config(83, {dense(24), sampled(0, 20, 12)}), data, 4);
}

}  // namespace
}  // namespace slide::test

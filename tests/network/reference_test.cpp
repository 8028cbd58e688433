// Tests of ten training steps, against the naive network and optimizers in double.
//
// Tolerance: a gradient is a float sum of at most some hundred products, with relative error below 100 *
// 2^-24 = 6e-6. Ten steps move a weight by less than 1 in total, so that its error is at most 6e-6, plus half
// as much from error feedback. Adam and Adagrad divide by a root as small as epsilon; epsilon is 1e-3 here,
// so that the noise of a zero gradient (1e-9) moves a weight by at most 1e-6 of the learning rate.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "engine/training/trainer.h"
#include "tests/network/naive_network.h"
#include "tests/network/naive_optimizer.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

constexpr std::uint64_t kSteps = 10;
constexpr double kTolerance = 2e-5;

// With `old`, the parameters before the step, weights are bfloat16: each of two blocks may round a weight
// between its old and new value.
void expect_same_parameters(const Network& network, NaiveNetwork& naive, NaiveNetwork* old = nullptr) {
  NaiveNetwork engine(network);
  const auto got = parameters_of(engine), want = parameters_of(naive);
  const auto were = old != nullptr ? parameters_of(*old) : want;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double rounding = old != nullptr ? (std::fabs(*were[i]) + std::fabs(*want[i])) / 64 : 0.0;
    ASSERT_NEAR(*got[i], *want[i], kTolerance * std::max(1.0, std::fabs(*want[i])) + rounding)
        << parameter_name(naive, i);
  }
}

double distance(NaiveNetwork& a, NaiveNetwork& b) {
  const auto x = parameters_of(a), y = parameters_of(b);
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (*x[i] - *y[i]) * (*x[i] - *y[i]);
  return std::sqrt(sum);
}

// Ten steps of one batch each over the data, with `batch` samples per step, except the last with `batch - 5`.
void expect_follows_reference(const Config& config, bool all_active, std::uint32_t shards = 2,
                              DataSpec spec = {}) {
  spec.samples = config.train.batch_size;
  spec.unlabelled = 7;
  // Features of every shard. A first layer with single columns is updated block by block; the rounding of its
  // blocks is bounded below for few features, which all blocks push in one direction.
  if (config.layers.size() > 1 && config.layers.front().kind == LayerKind::kDense) {
    spec.features = 40;
    spec.featureless = 11;
  }
  const Dataset data = make_data(spec);
  Network network = parted_network(config, data);
  network.initialise(1);
  randomise_biases(network);
  network.rebuild_index(1, 1);
  Stepper stepper(network, data, shards);
  NaiveNetwork naive(network), before(network);
  const Vector label_weights(data.label_weights().begin(), data.label_weights().end());
  naive.label_weights = label_weights;
  NaiveOptimizer reference(config.optimizer, naive);
  Optimizer optimizer(config.optimizer);
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    const std::size_t samples = step == 7 ? spec.samples - 5 : spec.samples;
    const double loss = stepper.train(0, samples, step);
    std::vector<NaiveBlock> blocks;
    for (const Block& block : stepper.blocks()) blocks.push_back(naive.choices_of(block));
    double want = 0.0;
    for (const NaiveBlock& block : blocks) {
      want += naive.loss(block);
      for (std::size_t l = 0; l < naive.layers.size() && all_active; ++l) {
        ASSERT_EQ(block.layers[l].active.size(), naive.layers[l].neurons);
      }
    }
    ASSERT_NEAR(loss, want, kTolerance * std::max(1.0, want)) << "step " << step;
    const double rate = optimizer.rate_at(step, kSteps);
    optimizer.set_rate(rate);
    optimizer.set_noise(config.train.seed, step);
    stepper.update(optimizer);
    NaiveNetwork old = naive;
    reference.step(naive, blocks, 1.0 / double(samples), rate);
    const bool bf16 = config.train.weights == Precision::kBf16;
    expect_same_parameters(network, naive, bf16 ? &old : nullptr);
    if (bf16) naive = NaiveNetwork(network);  // each step separately: rounding errors accumulate
    naive.label_weights = label_weights;
    if (testing::Test::HasFatalFailure()) FAIL() << "after step " << step;
  }
  EXPECT_GT(distance(naive, before), 0.1) << "nothing was learned";
}

OptimizerConfig optimizer_config(OptimizerKind kind) {
  OptimizerConfig config;
  config.kind = kind;
  config.learning_rate = kind == OptimizerKind::kAdam ? 0.02 : 0.1;
  config.epsilon = 1e-3;
  config.weight_decay = 0.3;
  config.schedule = RateSchedule::kCosine;
  config.warmup_steps = 2;
  return config;
}

struct Structure {
  const char* name;
  bool all_active;
  std::vector<LayerConfig> (*layers)();
};

using Layers = std::vector<LayerConfig>;
const Structure kStructures[] = {
    {"DenseOutput", true,
     []() -> Layers {
       return {dense(6, Activation::kTanh), dense(0)};
     }},
    {"DenseDeep", true,
     []() -> Layers {
       return {dense(6), dense(5, Activation::kSigmoid), dense(0)};
     }},
    {"OneDenseLayer", true, []() -> Layers { return {dense(0)}; }},
    {"SampledAllDrawn", true,
     []() -> Layers {
       return {dense(6, Activation::kTanh), sampled(0, 0, 9)};
     }},
    {"SampledMoreThanAllDrawn", true,
     []() -> Layers {
       return {sampled(7, 0, 100, Activation::kTanh), sampled(0, 0, 100)};
     }},
    {"TouchedRows", false,
     []() -> Layers {
       return {dense(6, Activation::kTanh), sampled(0, 1, 1)};
     }},
    {"TouchedRowsOfDataColumns", false,
     []() -> Layers {
       return {sampled(12, 2, 2, Activation::kTanh), dense(0)};
     }},
    {"TouchedRowsOfSampledColumns", false,
     []() -> Layers {
       return {dense(6), sampled(12, 2, 3, Activation::kTanh), sampled(0, 1, 1)};
     }},
    {"DenseRowsOfSampledColumns", false,
     []() -> Layers {
       return {dense(6), sampled(12, 2, 3), dense(5, Activation::kTanh), dense(0)};
     }},
    {"SpreadRows", false,  // activations with one more line, see kernels::spread_stride
     []() -> Layers {
       return {dense(256, Activation::kTanh), dense(1), dense(256, Activation::kTanh, 0.2), sampled(0, 1, 1)};
     }},
};

class Reference : public testing::TestWithParam<std::tuple<Structure, OptimizerKind>> {};

std::string case_name(const testing::TestParamInfo<std::tuple<Structure, OptimizerKind>>& at) {
  const char* kinds[] = {"Sgd", "Momentum", "Adagrad", "Adam"};
  return std::string(std::get<0>(at.param).name) + kinds[static_cast<int>(std::get<1>(at.param))];
}

INSTANTIATE_TEST_SUITE_P(Structures, Reference,
                         testing::Combine(testing::ValuesIn(kStructures),
                                          testing::Values(OptimizerKind::kSgd, OptimizerKind::kMomentum,
                                                          OptimizerKind::kAdagrad, OptimizerKind::kAdam)),
                         case_name);

TEST_P(Reference, TenStepsInBf16) {
  const auto& [structure, kind] = GetParam();
  Config config = make_config(structure.layers(), 32, 16);
  config.optimizer = optimizer_config(kind);
  config.train.weights = Precision::kBf16;
  expect_follows_reference(config, structure.all_active);
}

TEST_P(Reference, TenStepsOfSeveralBlocks) {
  const auto& [structure, kind] = GetParam();
  for (const LossKind loss : all_losses()) {
    Config config = make_config(structure.layers(), 32, 16);
    config.optimizer = optimizer_config(kind);
    config.loss.kind = loss;
    expect_follows_reference(config, structure.all_active);
  }
}

// Half of the gradients are 0: the engine skips them, the naive network multiplies all.
TEST_P(Reference, TenStepsOfRoundedDeltas) {
  const auto& [structure, kind] = GetParam();
  for (const LossKind loss : all_losses()) {
    Config config = make_config(structure.layers(), 8, 1);
    config.optimizer = optimizer_config(kind);
    config.loss.kind = loss;
    config.loss.gradient_threshold = 0.9;
    expect_follows_reference(config, structure.all_active);
    config.train.batch_size = 32;
    config.train.block_size = 16;
    expect_follows_reference(config, structure.all_active);
    config.train.weights = Precision::kBf16;
    expect_follows_reference(config, structure.all_active);
  }
}

TEST_P(Reference, TenStepsOfLabelsWithWeights) {
  const auto& [structure, kind] = GetParam();
  DataSpec spec;
  spec.label_weights = true;
  for (const bool weighted : {false, true}) {
    spec.weighted = weighted;
    for (const LossKind loss : all_losses()) {
      Config config = make_config(structure.layers(), 32, 16);
      config.optimizer = optimizer_config(kind);
      config.loss.kind = loss;
      config.loss.gradient_threshold = weighted ? 0.9 : 0.0;
      expect_follows_reference(config, structure.all_active, 2, spec);
    }
  }
}

TEST_P(Reference, TenStepsOfSingleSamples) {
  const auto& [structure, kind] = GetParam();
  Config config = make_config(structure.layers(), 8, 1);
  config.optimizer = optimizer_config(kind);
  expect_follows_reference(config, structure.all_active, 3);
}

// Where the output layer is the first, shards sum nothing that would be rounded.
TEST(ReferenceOfParts, TenSteps) {
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kMomentum, OptimizerKind::kAdagrad, OptimizerKind::kAdam}) {
    for (const LossKind loss : all_losses()) {
      for (const double floor : {0.0, 0.9}) {
        for (const LayerConfig& layer : {dense(0), sampled(0, 0, 9), sampled(0, 3, 3)}) {
          SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + " " + std::to_string(floor));
          Config config = make_config({layer}, 32, 16);
          config.optimizer = optimizer_config(kind);
          config.loss.kind = loss;
          config.loss.gradient_threshold = floor;
          config.train.shards = 3;
          expect_follows_reference(config, layer.lsh == 0);
        }
      }
    }
  }
}

// The trainer's own loop, over two batches, the second one partial.
TEST(ReferenceOfTrainer, StepsAreThoseOfTheNaiveNetwork) {
  for (const OptimizerKind kind : {OptimizerKind::kAdagrad, OptimizerKind::kAdam}) {
    Config config = make_config({dense(6, Activation::kTanh), dense(0)}, 32, 16);
    config.data.crosses = 0;
    config.optimizer = optimizer_config(kind);
    config.train.epochs = 5;
    config.train.shuffle = false;
    config.train.threads = 2;
    DataSpec spec;
    spec.samples = 32 + 21;
    const Dataset data = make_data(spec);
    Trainer trainer(fresh_job(config, data));
    NaiveNetwork naive(trainer.network());
    NaiveOptimizer reference(config.optimizer, naive);
    const Optimizer rates(config.optimizer);
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      const std::size_t first = step % 2 * 32, samples = step % 2 == 0 ? 32 : 21;
      NaiveBlock batch;
      for (std::size_t l = 0; l < 2; ++l) {
        batch.layers.emplace_back().active.resize(naive.layers[l].neurons);
        std::iota(batch.layers[l].active.begin(), batch.layers[l].active.end(), 0u);
      }
      for (std::size_t i = first; i < first + samples; ++i) {
        const SparseRow row = data.features(i);
        Vector& x = batch.x.emplace_back(spec.features, 0.0);
        for (std::size_t k = 0; k < row.ids.size(); ++k) x[row.ids[k]] = row.values[k];
        batch.features.emplace_back(row.ids.begin(), row.ids.end());
        batch.labels.emplace_back(data.labels(i).begin(), data.labels(i).end());
      }
      const double want = naive.loss(batch);
      ASSERT_NEAR(trainer.step(first, samples), want, kTolerance * want);
      reference.step(naive, {batch}, 1.0 / double(samples), rates.rate_at(step, kSteps));
      expect_same_parameters(trainer.network(), naive);
    }
    EXPECT_EQ(trainer.steps(), kSteps);
  }
}

}  // namespace
}  // namespace slide::test

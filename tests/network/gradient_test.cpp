// Tests of every weight's and bias's gradient, against central differences of the naive loss in double, with
// the active sets, corrections and dropout masks of the engine held fixed.
//
// The engine's gradient is the update of plain gradient descent: (before - after) / rate. With a rate of 8,
// the rounding of weights of size 1 disturbs it by at most 2^-24 / 8 = 7.5e-9.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/network/naive_network.h"
#include "tests/network/network_test_util.h"
#include "tests/sanitizers.h"

namespace slide::test {
namespace {

constexpr double kRate = 8.0;
constexpr double kStep = 1e-5;  // of the differences: truncation about 1e-10, rounding about 1e-16 / 1e-5
// Gradients here are of size 0.01 to 1, float sums of up to some hundred products.
constexpr double kAbsolute = 1e-6, kRelative = 2e-5, kOfLoss = 1e-5;
// Sums over shards of a network, and their addends, are rounded to bfloat16: each by 2^-9.
constexpr double kRoundedAbsolute = 6e-3, kRoundedRelative = 1e-2, kRoundedOfLoss = 2e-3;

std::vector<NaiveBlock> choices_of(const NaiveNetwork& naive, const Stepper& stepper) {
  std::vector<NaiveBlock> blocks;
  for (const Block& block : stepper.blocks()) blocks.push_back(naive.choices_of(block));
  return blocks;
}

double total_loss(const NaiveNetwork& naive, const std::vector<NaiveBlock>& blocks) {
  double sum = 0.0;
  for (const NaiveBlock& block : blocks) sum += naive.loss(block);
  return sum;
}

double total_weighted_loss(const NaiveNetwork& naive, const std::vector<NaiveBlock>& blocks) {
  double sum = 0.0;
  for (const NaiveBlock& block : blocks) sum += naive.weighted_loss(block);
  return sum;
}

Optimizer descent() {
  OptimizerConfig config;
  config.kind = OptimizerKind::kSgd;
  Optimizer optimizer(config);
  optimizer.set_rate(kRate);
  return optimizer;
}

// Under sanitizers and emulators, a subset of the parameters suffices: the naive network dominates the time,
// and the sanitizers check the engine.
constexpr std::size_t kEvery = kSanitized || kEmulated ? 13 : 1;

// Trains one batch of `samples`; checks loss and gradient of every parameter.
void check_gradient(Config config, std::size_t samples, std::uint32_t shards = 2, const DataSpec& spec = {}) {
  config.optimizer.kind = OptimizerKind::kSgd;
  const Dataset data = make_data(spec);
  Network network = parted_network(config, data);
  network.initialise(1);
  randomise_biases(network);
  network.rebuild_index(1, 1);
  Stepper stepper(network, data, shards);
  if (spec.label_margins) stepper.set_margins(*random_label_weights(spec));
  const bool rounded = network.parts().split() && network.input();
  const double loss = stepper.train(0, samples, 4);
  NaiveNetwork naive(network);
  naive.label_weights.assign(data.label_weights().begin(), data.label_weights().end());
  if (spec.label_margins) {
    const auto margins = random_label_weights(spec);
    naive.label_margins.assign(margins->begin(), margins->end());
  }
  const std::vector<NaiveBlock> blocks = choices_of(naive, stepper);
  const double want_loss = total_loss(naive, blocks);
  EXPECT_NEAR(loss, want_loss, (rounded ? kRoundedOfLoss : kOfLoss) * std::max(1.0, want_loss));
  stepper.update(descent());
  NaiveNetwork after(network);
  const auto before_all = parameters_of(naive), after_all = parameters_of(after);
  std::size_t checked = 0, moving = 0;
  for (std::size_t i = 0; i < before_all.size(); i += kEvery, ++checked) {
    double& w = *before_all[i];
    const double kept = w, engine = (w - *after_all[i]) / kRate;
    w = kept + kStep;
    const double above = total_weighted_loss(naive, blocks);
    w = kept - kStep;
    const double below = total_weighted_loss(naive, blocks);
    w = kept;
    const double want = (above - below) / (2 * kStep) / double(samples);
    const double relative = std::fabs(want) * (rounded ? kRoundedRelative : kRelative);
    ASSERT_NEAR(engine, want, relative + (rounded ? kRoundedAbsolute : kAbsolute))
        << parameter_name(naive, i);
    if (std::fabs(want) > 1e-4) ++moving;
  }
  EXPECT_GT(moving, checked / 20) << "too few parameters have a gradient for this test to mean much";
}

constexpr Activation kActivations[] = {Activation::kRelu, Activation::kTanh, Activation::kSigmoid,
                                       Activation::kLinear};

struct Shape {
  const char* name;
  std::vector<LayerConfig> (*layers)(Activation f, double dropout);
};

using Layers = std::vector<LayerConfig>;
const Shape kShapes[] = {
    {"DenseOutputOnly", [](Activation, double) -> Layers { return {dense(0)}; }},
    {"SampledOutputOnly", [](Activation, double) -> Layers { return {sampled(0, 3, 2)}; }},
    {"DenseDense",
     [](Activation f, double p) -> Layers {
       return {dense(7, f, p), dense(0)};
     }},
    {"DenseSampled",
     [](Activation f, double p) -> Layers {
       return {dense(7, f, p), sampled(0, 3, 2)};
     }},
    {"DenseDenseSampled",
     [](Activation f, double p) -> Layers {
       return {dense(7, f, p), dense(6, f, p), sampled(0, 3, 2)};
     }},
    {"SampledDense",
     [](Activation f, double p) -> Layers {
       return {sampled(8, 3, 3, f, p), dense(0)};
     }},
    {"SampledUniformSampledUniform",
     [](Activation f, double p) -> Layers {
       return {sampled(8, 0, 5, f, p), sampled(0, 0, 3)};
     }},
    {"SampledSampled",
     [](Activation f, double p) -> Layers {
       return {sampled(8, 3, 3, f, p), sampled(0, 3, 2)};
     }},
    {"DenseSampledDense",
     [](Activation f, double p) -> Layers {
       return {dense(7, f, p), sampled(10, 4, 3, f, p), dense(0)};
     }},
    {"DenseSampledSampled",
     [](Activation f, double p) -> Layers {
       return {dense(7, f, p), sampled(10, 4, 3, f, p), sampled(0, 3, 2)};
     }},
    {"DenseSampledDenseSampled",
     [](Activation f, double p) -> Layers {
       return {dense(6, f, p), sampled(9, 4, 2, f, p), dense(5, f, p), sampled(0, 2, 3)};
     }},
};

class Gradient : public testing::TestWithParam<std::tuple<Shape, LossKind>> {
 protected:
  Config config(Activation f, double dropout, std::uint32_t batch, std::uint32_t block) const {
    Config made = make_config(std::get<0>(GetParam()).layers(f, dropout), batch, block);
    made.loss.kind = std::get<1>(GetParam());
    made.loss.positive_weight = 2.5;
    return made;
  }
};

std::string case_name(const testing::TestParamInfo<std::tuple<Shape, LossKind>>& at) {
  return std::string(std::get<0>(at.param).name) + std::string(spelling(std::get<1>(at.param)));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Gradient,
                         testing::Combine(testing::ValuesIn(kShapes), testing::ValuesIn(all_losses())),
                         case_name);

TEST_P(Gradient, OfEveryActivation) {
  for (const Activation f : kActivations) check_gradient(config(f, 0.0, 16, 16), 16);
}

TEST_P(Gradient, OfSingleSamplesThatShareRows) {
  check_gradient(config(Activation::kTanh, 0.0, 6, 1), 6);
}

TEST_P(Gradient, OfSeveralBlocksTheLastNotFull) {
  check_gradient(config(Activation::kRelu, 0.0, 32, 16), 21);
  check_gradient(config(Activation::kTanh, 0.0, 64, 32), 37, 3);
}

TEST_P(Gradient, WithDropout) {
  check_gradient(config(Activation::kRelu, 0.3, 32, 16), 23);
  check_gradient(config(Activation::kSigmoid, 0.5, 4, 1), 4);
  check_gradient(config(Activation::kTanh, 0.5, 32, 32), 32);
}

TEST_P(Gradient, OfSamplesWithoutLabels) {
  DataSpec spec;
  spec.unlabelled = 3;
  check_gradient(config(Activation::kTanh, 0.0, 32, 16), 23, 1, spec);
}

TEST_P(Gradient, OfSamplesWithWeights) {
  DataSpec spec;
  spec.weighted = true;
  check_gradient(config(Activation::kTanh, 0.0, 32, 16), 23, 1, spec);
  check_gradient(config(Activation::kRelu, 0.0, 5, 1), 5, 1, spec);
}

TEST_P(Gradient, OfLabelsWithWeights) {
  DataSpec spec;
  spec.label_weights = true;
  spec.unlabelled = 5;
  check_gradient(config(Activation::kTanh, 0.0, 32, 16), 23, 1, spec);
  spec.weighted = true;
  check_gradient(config(Activation::kTanh, 0.0, 32, 16), 32, 2, spec);
  check_gradient(config(Activation::kRelu, 0.0, 5, 1), 5, 1, spec);
}

TEST_P(Gradient, OfLabelsWithMargins) {
  DataSpec spec;
  spec.label_margins = true;
  check_gradient(config(Activation::kTanh, 0.0, 32, 16), 23, 1, spec);
  spec.label_weights = spec.weighted = true;
  check_gradient(config(Activation::kTanh, 0.0, 32, 16), 32, 2, spec);
}

TEST_P(Gradient, OfSamplesWithoutFeatures) {
  DataSpec spec;
  spec.featureless = 3;
  check_gradient(config(Activation::kTanh, 0.0, 32, 16), 23, 1, spec);
  check_gradient(config(Activation::kTanh, 0.0, 5, 1), 5, 1, spec);
}

TEST(GradientOfSources, FrequencySamplesStandForTheRestWithoutUniformFill) {
  for (const LossKind loss : all_losses()) {
    for (const std::uint32_t uniform : {0, 2}) {
      Config config = make_config({dense(7, Activation::kTanh), sampled(0, 2, uniform)}, 4, 1);
      config.layers.back().frequency = 4;
      config.loss.kind = loss;
      check_gradient(config, 4);
    }
  }
}

TEST(GradientOfSources, WithoutCorrection) {
  for (const LossKind loss : all_losses()) {
    Config config = make_config({dense(7, Activation::kTanh), sampled(0, 2, 2)}, 16, 16);
    config.layers.back().logq_correction = false;
    config.loss.kind = loss;
    check_gradient(config, 16);
  }
}

// Widths beyond one register and rows beyond one tile.
TEST(GradientOfSizes, BeyondOneRegister) {
  DataSpec spec;
  spec.features = 20, spec.labels = 35;
  check_gradient(make_config({dense(19, Activation::kTanh), sampled(0, 12, 9)}, 32, 16), 20, 4, spec);
  check_gradient(make_config({sampled(37, 12, 9, Activation::kTanh), sampled(0, 0, 19)}, 8, 1), 8, 4, spec);
}

// ---- dense features ----

DataSpec dense_spec(std::uint32_t features, std::uint32_t dense) {
  DataSpec spec;
  spec.samples = 50, spec.features = features, spec.dense = dense, spec.unlabelled = 5, spec.featureless = 7;
  return spec;
}

TEST(GradientOfDenseFeatures, WithoutAHiddenLayer) {
  for (const LossKind loss : all_losses()) {
    for (const LayerConfig& output : {dense(0), sampled(0, 3, 2)}) {
      for (const std::uint32_t block : {1, 16}) {
        Config config = make_config({output}, 2 * block, block);
        config.loss.kind = loss;
        check_gradient(config, block == 1 ? 2 : 23, 3, dense_spec(37, 37));
      }
    }
  }
}

TEST(GradientOfDenseFeatures, BelowAHiddenLayer) {
  for (const LossKind loss : all_losses()) {
    for (const std::uint32_t sparse : {0, 30}) {
      for (const std::uint32_t block : {1, 32}) {
        Config config = make_config({dense(9, Activation::kTanh, 0.3), sampled(0, 3, 2)}, 2 * block, block);
        config.loss.kind = loss;
        check_gradient(config, block == 1 ? 2 : 43, 3, dense_spec(37 + sparse, 37));
      }
    }
  }
}

TEST(GradientOfDenseFeatures, BelowASampledLayer) {
  const Config config = make_config({sampled(8, 3, 3, Activation::kTanh), dense(0)}, 32, 16);
  check_gradient(config, 23, 2, dense_spec(20, 20));
}

// ---- networks in parts ----

DataSpec spec_of_parts() {
  DataSpec spec;
  spec.features = 50, spec.labels = 23, spec.unlabelled = 5, spec.featureless = 7;
  return spec;
}

using PartsCase = std::tuple<std::uint32_t, LossKind>;
class GradientOfParts : public testing::TestWithParam<PartsCase> {
 protected:
  void check(Layers layers, std::uint32_t batch, std::uint32_t block, std::size_t samples,
             const DataSpec& spec = spec_of_parts()) const {
    Config config = make_config(std::move(layers), batch, block);
    config.train.shards = std::get<0>(GetParam());
    config.loss.kind = std::get<1>(GetParam());
    config.loss.positive_weight = 2.5;
    check_gradient(config, samples, 3, spec);
  }
};

INSTANTIATE_TEST_SUITE_P(Parts, GradientOfParts,
                         testing::Combine(testing::Values(2, 3, 5), testing::ValuesIn(all_losses())),
                         [](const testing::TestParamInfo<PartsCase>& at) {
                           return std::to_string(std::get<0>(at.param)) +
                                  std::string(spelling(std::get<1>(at.param)));
                         });

// Only the norm under softmax is summed over shards: as exact as with one shard.
TEST_P(GradientOfParts, WithoutAHiddenLayer) {
  for (const LayerConfig& output : {dense(0), sampled(0, 7, 5), sampled(0, 0, 100), sampled(0, 2, 1)}) {
    check({output}, 16, 16, 16);
    check({output}, 32, 16, 21);
    check({output}, 6, 1, 6);
  }
}

TEST_P(GradientOfParts, OfDenseFeatures) {
  check({sampled(0, 7, 5)}, 32, 16, 21, dense_spec(20, 20));
}

TEST_P(GradientOfParts, AboveAHiddenLayer) {
  for (const LayerConfig& output : {dense(0), sampled(0, 7, 5), sampled(0, 0, 100), sampled(0, 2, 1)}) {
    for (const Activation f : {Activation::kTanh, Activation::kSigmoid, Activation::kLinear}) {
      check({dense(7, f), output}, 16, 16, 16);
      check({dense(7, f), output}, 6, 1, 6);
    }
    check({dense(35, Activation::kTanh), output}, 32, 16, 21);
  }
}

TEST_P(GradientOfParts, OfSamplesWithWeights) {
  DataSpec spec = spec_of_parts();
  spec.weighted = true;
  check({sampled(0, 7, 5)}, 32, 16, 21, spec);
  check({dense(7, Activation::kTanh), sampled(0, 7, 5)}, 16, 16, 16, spec);
}

TEST_P(GradientOfParts, OfLabelsWithWeights) {
  DataSpec spec = spec_of_parts();
  spec.label_weights = true;
  for (const LayerConfig& output : {dense(0), sampled(0, 7, 5)}) {
    check({output}, 32, 16, 21, spec);
    check({dense(7, Activation::kTanh), output}, 16, 16, 16, spec);
  }
  spec.weighted = spec.label_margins = true;
  check({sampled(0, 7, 5)}, 32, 16, 21, spec);
}

TEST_P(GradientOfParts, WithDropout) {
  check({dense(13, Activation::kTanh, 0.3), dense(0)}, 64, 32, 39);
  check({dense(7, Activation::kTanh, 0.5), sampled(0, 7, 5)}, 6, 1, 6);
}

}  // namespace
}  // namespace slide::test

// Tests of the memory plan of a run, against the memory of a trainer. Aligned arrays of at least 128 KB are
// mapped, everything else is on the heap: both are counted.
#include "engine/training/memory_plan.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <fstream>
#include <span>
#include <string>
#include <utility>

#include "engine/base/aligned.h"
#include "engine/inference/inference.h"
#include "engine/network/block_bounds.h"
#include "engine/training/trainer.h"
#include "engine/wide/item_ridge.h"
#include "tests/network/network_test_util.h"
#include "tests/sanitizers.h"

namespace slide::test {
namespace {

// Bytes of the heap and of aligned arrays in use.
double bytes_in_use() {
  const struct mallinfo2 heap = mallinfo2();
  return double(heap.uordblks + heap.hblkhd) + double(mapped_bytes());
}

struct Case {
  const char* name;
  Config (*config)();
};

LayerConfig sampled_output(std::uint32_t lsh, std::uint32_t uniform) {
  LayerConfig layer = sampled(0, lsh, uniform);
  layer.hash.k = 5;
  layer.hash.tables = 20;
  layer.hash.range_pow = 5;
  layer.hash.bucket_capacity = 256;
  return layer;
}

Config with_layers(std::vector<LayerConfig> layers) {
  return make_config(std::move(layers), 256, 128);
}

const Case kCases[] = {
    {"DenseOutput",
     [] {
       return with_layers({dense(64), dense(0)});
     }},
    {"Uniform",
     [] {
       return with_layers({dense(64), sampled_output(0, 500)});
     }},
    {"Tables",
     [] {
       return with_layers({dense(64), sampled_output(300, 200)});
     }},
    {"TablesOfTopk",
     [] {
       Config config = with_layers({dense(64), sampled_output(300, 200)});
       config.layers[1].hash.candidates = CandidatePolicy::kTopk;
       return config;
     }},
    {"Bfloat16",
     [] {
       Config config = with_layers({dense(64), sampled_output(0, 500)});
       config.train.weights = Precision::kBf16;
       return config;
     }},
    {"Adam",
     [] {
       Config config = with_layers({dense(64), sampled_output(0, 500)});
       config.optimizer.kind = OptimizerKind::kAdam;
       return config;
     }},
    {"RoundedDeltas",
     [] {
       Config config = with_layers({dense(64), sampled_output(0, 1500)});
       config.loss.gradient_threshold = 0.05;
       return config;
     }},
    {"TwoHiddenLayersWithDropout",
     [] {
       return with_layers({dense(64, Activation::kRelu, 0.1), dense(256, Activation::kRelu, 0.1), dense(0)});
     }},
    {"SampledHiddenLayer",
     [] {
       return with_layers({dense(64), sampled(3000, 0, 800), dense(0)});
     }},
    {"FirstLayerByNeuron", [] { return with_layers({sampled_output(200, 300)}); }},
    {"Neighbours",
     [] {
       Config config = with_layers({dense(64), sampled_output(0, 500)});
       config.neighbours.share = 0.25;
       config.data.idf_power = 1.0;
       return config;
     }},
    {"Parts",
     [] {
       Config config = with_layers({dense(64), sampled_output(300, 500)});
       config.train.shards = 4;
       return config;
     }},
    {"ManyPartsOfSoftmax",
     [] {
       Config config = with_layers({dense(128), sampled_output(0, 500)});
       config.train.shards = 16;
       config.loss.kind = LossKind::kSoftmax;
       return config;
     }},
    {"PartsOfAFirstLayer",
     [] {
       Config config = with_layers({sampled_output(200, 300)});
       config.train.shards = 4;
       return config;
     }},
    {"Frequency",
     [] {
       Config config = with_layers({dense(64), sampled_output(0, 300)});
       config.layers[1].frequency = 200;
       return config;
     }},
};

class MemoryPlanCase : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Configurations, MemoryPlanCase, testing::ValuesIn(kCases),
                         [](const auto& at) { return std::string(at.param.name); });

TEST_P(MemoryPlanCase, IsWithinATenthOfWhatATrainerTakes) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's heap";
  DataSpec spec;
  spec.samples = 3000, spec.features = 4000, spec.labels = 5000, spec.entries = 20;
  const Dataset data = make_data(spec);
  Config config = GetParam().config();
  config.train.epochs = 1;
  for (const std::uint32_t threads : {1, 2, 6}) {
    config.train.threads = threads;
    TrainingRows rows(config, data, static_cast<int>(threads));
    ASSERT_GT(rows.crosses.size(), 1000U);
    BlockBounds bounds = bounds_of(rows.crossed, config.train.block_size);
    bounds.all_features = data.feature_entries();
    const MemoryPlan plan = plan_memory(config, rows.crossed.feature_count(), data.label_count(), bounds,
                                        static_cast<int>(threads));
    const double before = bytes_in_use();
    Trainer trainer({config, std::move(rows), FreshStart(), static_cast<int>(threads)});
    trainer.run({});
    const double taken = bytes_in_use() - before,
                 planned = plan.weights() + plan.neighbours + plan.state() + plan.tables() + plan.step;
    EXPECT_NEAR(planned / taken, 1.0, 0.1)
        << threads << " threads: planned " << planned << ", taken " << taken;
  }
}

// A step takes memory for the samples there are, whatever train.batch_size says, and so does its plan.
TEST(MemoryPlan, OfABatchBeyondTheSamplesIsThatOfAllSamples) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's heap";
  DataSpec spec;
  spec.samples = 600, spec.features = 4000, spec.labels = 5000, spec.entries = 20;
  const Dataset data = make_data(spec);
  const auto planned_and_taken = [&](std::uint32_t batch_size) {
    Config config = make_config({dense(64), sampled_output(0, 500)}, batch_size, 128);
    config.train.epochs = 1;
    config.train.threads = 2;
    const BlockBounds bounds = bounds_of(data, config.train.block_size);
    const double planned = plan_memory(config, data.feature_count(), data.label_count(), bounds, 2).step;
    const double before = bytes_in_use();
    Trainer trainer(fresh_job(config, data));
    trainer.run({});
    return std::pair(planned, bytes_in_use() - before);
  };
  const auto [planned, taken] = planned_and_taken(600);
  const auto [planned_more, taken_more] = planned_and_taken(60'000);
  EXPECT_EQ(planned_more, planned);
  EXPECT_NEAR(taken_more / taken, 1.0, 0.05);
}

TEST(MemoryPlan, KnowsTheWeightsOfLabels) {
  Config config = with_layers({dense(64), sampled_output(0, 500)});
  const BlockBounds bounds = bounds_of(make_data({}), config.train.block_size);
  const double without = plan_memory(config, 11, 5000, bounds, 1).training();
  config.data.label_weights.power = -0.5;
  EXPECT_EQ(plan_memory(config, 11, 5000, bounds, 1).training(), without + 5000 * sizeof(float));
  config.data.label_weights = {0, "w.txt"};
  EXPECT_EQ(plan_memory(config, 11, 5000, bounds, 1).training(), without + 5000 * sizeof(float));
}

// The plan bounds a linear term: patterns of as many features as samples have.
TEST(MemoryPlan, OfALinearTermIsAnUpperBound) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's heap";
  DataSpec spec;
  spec.samples = 4000, spec.features = 4000, spec.labels = 5000, spec.entries = 20, spec.max_labels = 1;
  const Dataset data = make_data(spec);
  Config config = with_layers({dense(64), sampled_output(0, 500)});
  config.data.crosses = 0;
  config.layers[1].wide = true;
  config.train.epochs = 1;
  config.train.threads = 1;
  const MemoryPlan plan = plan_memory(config, data.feature_count(), data.label_count(),
                                      bounds_of(data, config.train.block_size), 1);
  const double before = bytes_in_use();
  Trainer trainer(fresh_job(config, data));
  trainer.run({});
  const double taken = bytes_in_use() - before,
               planned = plan.weights() + plan.neighbours + plan.state() + plan.tables() + plan.step;
  EXPECT_GT(planned, 0.9 * taken);
  EXPECT_LT(planned, 1.5 * taken);
}

// A line of /proc/self/status, in bytes.
double status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

// Makes the memory in use now the peak (VmHWM); false where the system does not.
bool forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  return status_bytes("VmHWM") > 0 && status_bytes("VmHWM") <= 1.02 * status_bytes("VmRSS");
}

// The index of inference by tables takes more than all else in an evaluation. Without a linear term, all
// neurons answer by default, after they were ordered.
TEST(MemoryPlan, KnowsTheIndexOfAnEvaluation) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's heap";
  DataSpec spec;
  spec.samples = 600, spec.features = 2000, spec.labels = 150'000, spec.entries = 20;
  const Dataset data = make_data(spec);
  Config config = with_layers({dense(32), sampled_output(0, 200)});
  config.data.crosses = 0;
  config.train.threads = 2;
  BlockBounds bounds = bounds_of(data, config.train.block_size);
  bounds.evaluated = data.size();
  const auto planned = [&](Inference inference) {
    config.eval.inference = inference;
    return plan_memory(config, data.feature_count(), data.label_count(), bounds, 2).evaluation;
  };
  const double by_tables = planned(Inference::kLsh), by_all = planned(Inference::kFull);
  EXPECT_EQ(planned(Inference::kAuto), by_all);
  const Trainer trainer(fresh_job(config, data));
  if (!forget_peak()) GTEST_SKIP() << "no peak of a part of a process";
  const double before = status_bytes("VmRSS");
  InferenceOptions options;
  options.mode = Inference::kLsh, options.threads = 2;
  const Predictor predictor(trainer.trained(), options);
  const double index = status_bytes("VmHWM") - before;
  predictor.predict(data, [](std::size_t, std::span<const Prediction>) {});
  const double taken = status_bytes("VmHWM") - before;
  EXPECT_GT(index, 1.5 * by_all);
  EXPECT_GT(by_tables, 0.9 * taken) << "planned " << by_tables << ", taken " << taken;
  EXPECT_LT(by_tables, 1.4 * taken) << "planned " << by_tables << ", taken " << taken;
}

// Each thread finds patterns in working memory for all features, before training starts.
TEST(MemoryPlan, KnowsWhatFindingPatternsTakes) {
  Config config = with_layers({dense(16), sampled_output(0, 500)});
  const std::size_t features = 1'000'000;
  const auto plan = [&](int threads) {
    return plan_memory(config, features, 2000, bounds_of(make_data({}), config.train.block_size), threads);
  };
  EXPECT_EQ(plan(64).patterns, 0);
  config.layers[1].wide = true;
  config.layers[1].wide_negatives = 0;
  EXPECT_EQ(plan(64).patterns - plan(1).patterns, 63.0 * features * (sizeof(float) + 1));
  config.layers[1].wide_negatives = 16;
  EXPECT_EQ(plan(64).patterns - plan(1).patterns, 63.0 * features * (2 * sizeof(float) + 1));
  EXPECT_GE(plan(64).training(), plan(64).weights() + plan(64).patterns);
}

// For items, the plan contains the regression before the first step: a dense matrix, or for many items the
// co-occurrence counts, bounded by the users' pairs.
TEST(MemoryPlan, KnowsTheRegressionOfItems) {
  Config config = suited_to_interactions();
  const auto plan = [&](std::size_t items, std::size_t pairs, int threads) {
    BlockBounds bounds = bounds_of(make_data({}), config.train.block_size);
    bounds.label_features = pairs;
    return plan_memory(config, items, items, bounds, threads);
  };
  const double matrix = double(1024 + 64) * 1024 * sizeof(float);
  EXPECT_GE(plan(1000, 5000, 2).regression, matrix);
  EXPECT_LT(plan(1000, 5000, 2).regression, 1.2 * matrix);
  const MemoryPlan many = plan(3'000'000, std::size_t{1} << 40, 1);
  EXPECT_GT(many.regression, 3e6 * 2048 * 8);
  EXPECT_LT(many.regression, 1.2 * 3e6 * 2048 * 8);
  EXPECT_GE(many.training(), many.weights() + many.regression);
  EXPECT_GT(plan(3'000'000, std::size_t{1} << 40, 8).regression, many.regression);
  EXPECT_LT(plan(3'000'000, 10'000'000, 1).regression, 0.02 * many.regression);
  config.layers.back().wide_ridge = 0;
  EXPECT_EQ(plan(1000, 5000, 2).regression, 0);
  config = Config();
  EXPECT_EQ(plan(1000, 5000, 2).regression, 0);
}

// The memory is allocated in many pieces and released, so the memory at the end is compared: the result.
TEST(MemoryPlan, OfCooccurrenceBoundsItsMemory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's heap";
  DataSpec spec;
  spec.samples = 3000, spec.features = 3000, spec.labels = 3000, spec.entries = 20;
  const Dataset users = make_data(spec);
  double pairs = 0;
  for (std::size_t user = 0; user < users.size(); ++user) {
    const auto items = double(users.labels(user).size());
    pairs += items * items;
  }
  const double before = bytes_in_use();
  const ItemWeights weights = ridge_of_cooccurring(users, 10, 128, 2);
  const double taken = bytes_in_use() - before;
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, bytes_of_sparse_ridge(users.label_count(), pairs, 128, 2));
}

}  // namespace
}  // namespace slide::test

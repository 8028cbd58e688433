// Tests of `eval.inference = "auto"`: the rule, and that a Predictor answers as what it resolves to.
#include "engine/inference/auto_inference.h"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/inference/reaching.h"
#include "engine/training/trainer.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

constexpr std::size_t kBound = kMinTableLabels;

Config config_of(std::size_t layers = 2) {
  Config config;
  config.layers = default_layers(layers);
  config.loss.kind = LossKind::kSigmoid;
  return config;
}

Inference of(const Config& config, std::size_t labels, const InferenceNeeds& needs = {}) {
  return resolved_inference(Inference::kAuto, config, labels, needs);
}

TEST(AutoInference, IsTheDefault) {
  EXPECT_EQ(Config{}.eval.inference, Inference::kAuto);
}

TEST(AutoInference, TakesTablesFromTheBoundOn) {
  EXPECT_EQ(of(config_of(), kBound), Inference::kLsh);
  EXPECT_EQ(of(config_of(), kBound - 1), Inference::kFull);
  EXPECT_EQ(of(config_of(3), kBound), Inference::kLsh);
}

TEST(AutoInference, OtherModesStayWhatTheyAre) {
  for (const std::size_t labels : {std::size_t{10}, kBound}) {
    EXPECT_EQ(resolved_inference(Inference::kFull, config_of(), labels, {}), Inference::kFull);
    EXPECT_EQ(resolved_inference(Inference::kLsh, config_of(), labels, {}), Inference::kLsh);
  }
}

TEST(AutoInference, TakesAllNeuronsWhereTablesMissSomething) {
  EXPECT_EQ(of(config_of(1), kBound), Inference::kFull) << "no hidden layer";
  EXPECT_EQ(of(config_of(), kBound, {kMaxTableK}), Inference::kLsh);
  EXPECT_EQ(of(config_of(), kBound, {kMaxTableK + 1}), Inference::kFull);
  EXPECT_EQ(of(config_of(), kBound, {5, kBound / kMinPerCandidate + 1}), Inference::kFull) << "candidates";
  EXPECT_EQ(of(config_of(), kBound, {5, 256, true}), Inference::kFull) << "softmax over all labels";
  Config softmax = config_of();
  softmax.loss.kind = LossKind::kSoftmax;
  softmax.neighbours.share = 0;
  EXPECT_EQ(of(softmax, kBound), Inference::kLsh);
  softmax.neighbours.share = 0.3;
  EXPECT_EQ(of(softmax, kBound), Inference::kFull) << "the kNN is mixed into probabilities";
  Config items = config_of();
  items.data.kind = DataKind::kInteractions;
  EXPECT_EQ(of(items, kBound), Inference::kFull) << "known items would take the places of others";
}

TEST(AutoInference, TakesAllNeuronsWithoutALinearTerm) {
  Config config = config_of();
  config.layers.back().wide = false;
  EXPECT_EQ(of(config, kBound), Inference::kFull);
  EXPECT_EQ(of(config, 30 * kBound), Inference::kFull);
}

TEST(AutoInference, OfAConfigurationIsThatOfItsLargestK) {
  Config config = config_of();
  EXPECT_EQ(resolved_inference(config, kBound), Inference::kLsh);
  config.eval.k = {1, 100};
  EXPECT_EQ(resolved_inference(config, kBound), Inference::kFull);
  config.eval.inference = Inference::kLsh;
  EXPECT_EQ(resolved_inference(config, 10), Inference::kLsh);
}

using Answers = std::vector<std::vector<Prediction>>;

// A network of many labels, most of which have no sample.
class AutoOfManyLabels : public testing::Test {
 protected:
  static Dataset data_of(std::uint32_t labels) {
    DataSpec spec;
    spec.samples = 200, spec.features = 60, spec.labels = labels, spec.entries = 7;
    return make_data(spec);
  }
  static Trainer trained(const Dataset& data, LossKind loss = LossKind::kSigmoid) {
    Config config = config_of();
    config.layers.front().size = 16;
    config.layers.back().init_scale = 1;
    config.layers.back().wide_features = 4;
    config.layers.back().wide_negatives = 0;
    config.neighbours.share = 0;
    config.data.crosses = 0;
    config.loss.kind = loss;
    config.train.epochs = 1;
    config.train.threads = 2;
    Trainer trainer(fresh_job(config, data));
    trainer.run({});
    return trainer;
  }
  static InferenceOptions options_of(Inference mode) {
    InferenceOptions options;
    options.mode = mode;
    options.threads = 2;
    return options;
  }
  static Answers ask(const Predictor& predictor, const Dataset& data, const Predictor::Wanted& wanted) {
    Answers all(data.size());
    std::mutex mutex;
    std::vector<Predictor::Scratch> scratch;
    predictor.predict(data, wanted, scratch, [&](std::size_t i, std::span<const Prediction> best) {
      const std::lock_guard lock(mutex);
      all[i].assign(best.begin(), best.end());
    });
    return all;
  }
  static void expect_same(const Answers& a, const Answers& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].size(), b[i].size()) << i;
      for (std::size_t r = 0; r < a[i].size(); ++r) {
        ASSERT_EQ(a[i][r].label, b[i][r].label) << i;
        ASSERT_EQ(a[i][r].score, b[i][r].score) << i;
      }
    }
  }
};

TEST_F(AutoOfManyLabels, AreAnsweredByTablesAndMoreOfThemByAllNeurons) {
  const Dataset data = data_of(kBound);
  const Trainer trainer = trained(data);
  const Predictor automatic(trainer.trained(), options_of(Inference::kAuto));
  const Predictor tables(trainer.trained(), options_of(Inference::kLsh));
  InferenceOptions exactly = options_of(Inference::kFull);
  exactly.bound_first = false;
  const Predictor full(trainer.trained(), exactly);
  EXPECT_GT(automatic.index_bytes(), 0U);
  Predictor::Wanted few, many, exact;
  many.k = kMaxTableK + 1;
  exact.exact = true;
  for (int round = 0; round < 2; ++round) {  // calls of both kinds in turns
    EXPECT_EQ(automatic.inference(few), Inference::kLsh);
    expect_same(ask(automatic, data, few), ask(tables, data, few));
    EXPECT_EQ(automatic.inference(many), Inference::kFull);
    expect_same(ask(automatic, data, many), ask(full, data, many));
    EXPECT_EQ(automatic.inference(exact), Inference::kFull);
    expect_same(ask(automatic, data, exact), ask(full, data, exact));
  }
}

TEST_F(AutoOfManyLabels, OneByOneAreAnsweredTheSame) {
  const Dataset data = data_of(kBound);
  const Trainer trainer = trained(data);
  const Predictor automatic(trainer.trained(), options_of(Inference::kAuto));
  const Predictor tables(trainer.trained(), options_of(Inference::kLsh));
  Predictor::Scratch a, b;
  for (const std::size_t k : {std::size_t{3}, kMaxTableK + 1, std::size_t{3}}) {
    Predictor::Wanted wanted;
    wanted.k = k;
    std::vector<Prediction> first, second;
    automatic.predict(data.slice(0, 1), wanted, a,
                      [&](std::size_t, auto best) { first.assign(best.begin(), best.end()); });
    tables.predict(data.slice(0, 1), wanted, b,
                   [&](std::size_t, auto best) { second.assign(best.begin(), best.end()); });
    ASSERT_EQ(first.size(), k);
    if (k == 3) expect_same({first}, {second});
  }
}

TEST_F(AutoOfManyLabels, BelowTheBoundAreAnsweredByAllNeurons) {
  const Dataset data = data_of(5000);
  const Trainer trainer = trained(data);
  const Predictor automatic(trainer.trained(), options_of(Inference::kAuto));
  const Predictor full(trainer.trained(), options_of(Inference::kFull));
  EXPECT_EQ(automatic.inference({}), Inference::kFull);
  expect_same(ask(automatic, data, {}), ask(full, data, {}));
}

TEST_F(AutoOfManyLabels, ProbabilitiesOfASoftmaxAreOverAllLabels) {
  const Dataset data = data_of(kBound);
  const Trainer trainer = trained(data, LossKind::kSoftmax);
  InferenceOptions options = options_of(Inference::kAuto);
  const Predictor logits(trainer.trained(), options);
  EXPECT_EQ(logits.inference(logits.wanted()), Inference::kLsh);
  options.log_softmax = true;
  const Predictor automatic(trainer.trained(), options);
  EXPECT_EQ(automatic.inference(automatic.wanted()), Inference::kFull);
  options.mode = Inference::kFull;
  const Predictor full(trainer.trained(), options);
  expect_same(ask(automatic, data, automatic.wanted()), ask(full, data, full.wanted()));
}

// What reaches a threshold is not found by tables alone.
TEST_F(AutoOfManyLabels, AllThatReachAThresholdAreLookedForAmongAll) {
  const Dataset data = data_of(kBound).slice(0, 8);
  const Trainer trainer = trained(data_of(kBound));
  const auto count = [&](Inference mode) {
    const Predictor predictor(trainer.trained(), options_of(mode));
    std::vector<Predictor::Scratch> scratch;
    std::vector<std::size_t> found(data.size());
    const auto call = [&](const Dataset& rows, const Predictor::Wanted& wanted, const Predictor::Sink& sink) {
      predictor.predict(rows, wanted, scratch, sink);
    };
    const float threshold = [&] {  // that of the 20th label of the first sample
      Predictor::Wanted wanted;
      wanted.k = 20, wanted.exact = true;
      return ask(predictor, data, wanted)[0].back().score;
    }();
    predict_reaching(
        data, {}, {kBound, 0}, [&](float score) { return score >= threshold; }, call,
        [&](std::size_t i, auto best) { found[i] = best.size(); });
    return found;
  };
  EXPECT_EQ(count(Inference::kAuto), count(Inference::kFull));
}

}  // namespace
}  // namespace slide::test

// Tests of continue_training() and of the inspection of a model.
#include <gtest/gtest.h>
#include <slide/slide.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/api/samples.h"
#include "tests/cli/program.h"

namespace slide::api {
namespace {

using test::Program;
using test::Samples;
using test::tiny_samples;

Config config_of(const Config::Overrides& overrides = {}) {
  return Config::from_toml(R"(
train = {epochs = 3, batch_size = 32, block_size = 16, threads = 2}
layer = [{size = 8}, {kind = "sampled", lsh = 4, uniform = 4, hash = {k = 3, tables = 4, range_pow = 3}}]
)",
                           overrides);
}

double precision(const Model& model, const Data& data) {
  return evaluate(model, data, {1}).at("p_at_1");
}

TEST(ApiContinue, LearnsFromNewSamples) {
  const Samples all = tiny_samples(270);
  Samples few;  // only with labels 0 to 3
  few.features = all.features;
  few.labels = all.labels;
  for (std::int32_t i = 0; i < 120; ++i)
    few.add({std::uint32_t(i % 4), std::uint32_t(i % 4 + 1), 11}, {1.0F, 0.5F, 0.25F},
            {std::uint32_t(i % 4)});
  for (const char* wide : {"layer.-1.wide=true", "layer.-1.wide=false"}) {
    const Config config = config_of({wide, "neighbours.share=0", "train.epochs=20"});
    const Model first = train(config, few.data());
    const double before = precision(first, all.data());
    const Model further = continue_training(first, all.data(), 20);
    EXPECT_LT(before, 0.6) << wide;
    EXPECT_GT(precision(further, all.data()), 0.95) << wide;
    EXPECT_EQ(further.steps(), first.steps() + 20 * 9);
    EXPECT_EQ(further.config().to_toml(), first.config().to_toml());
    EXPECT_EQ(precision(first, all.data()), before) << "the first one stays as it is";
  }
}

TEST(ApiContinue, NewSamplesVote) {
  const Samples all = tiny_samples(180);
  const Config config = config_of({"neighbours.share=0.9", "train.epochs=1"});
  const Model first = train(config, all.slice(0, 1).data());
  EXPECT_LT(precision(first, all.data()), 0.5);
  EXPECT_GT(precision(continue_training(first, all.slice(1, 60).data()), all.data()), 0.95);
}

// From memory, and from a file with the optimizer's state, on any number of threads.
TEST(ApiContinue, IsTheSameToTheBit) {
  const Program files;
  const Samples samples = tiny_samples();
  for (const char* kind : {"optimizer.kind=adagrad", "optimizer.kind=adam", "train.weights=bf16"}) {
    const Model first = train(config_of({kind, "data.idf_power=0.5"}), samples.data());
    first.save(files.path("first"), true);
    const auto bytes_of = [&](const Model& start) {
      continue_training(start, samples.data(), 2).save(files.path("m"), true);
      return read_file(files.path("m"));
    };
    const auto expected = bytes_of(first);
    EXPECT_EQ(bytes_of(first), expected) << kind;
    EXPECT_EQ(bytes_of(Model::load(files.path("first"), true)), expected) << kind;
    if (std::string(kind).find("adam") != std::string::npos) {
      EXPECT_NE(bytes_of(Model::load(files.path("first"))), expected) << "without the optimizer's state";
    }
  }
}

TEST(ApiContinue, ContinuesAgainAndAgain) {
  const Data data = tiny_samples().data();
  Model model = train(config_of(), data);
  for (int i = 0; i < 3; ++i) model = continue_training(model, data);
  EXPECT_EQ(model.steps(), std::uint64_t(6 * 7));
}

TEST(ApiContinue, CallbacksWatchAndStopIt) {
  const Model first = train(config_of(), tiny_samples().data());
  std::uint64_t epochs = 0;
  Callbacks callbacks;
  callbacks.step = [](const Progress& at) { return at.step < 10; };
  callbacks.epoch = [&](const EpochSummary& at) { epochs = at.epoch; };
  const Model further = continue_training(first, tiny_samples().data(), 5, callbacks);
  EXPECT_EQ(further.steps(), first.steps() + 10);
  EXPECT_EQ(epochs, 1U);
}

TEST(ApiContinue, LargerNumbersAreNewFeaturesAndLabels) {
  const Samples few = tiny_samples(270);
  Samples more;
  more.features = 14;
  more.labels = 10;
  for (int i = 0; i < 120; ++i) more.add({12, 13}, {1.0F, 0.5F}, {9});
  const Model first = train(config_of({"train.epochs=20"}), few.data());
  const Model further = continue_training(first, more.data(), 10);
  EXPECT_EQ(first.labels(), 9U);
  EXPECT_EQ(further.labels(), 10U);
  EXPECT_EQ(further.features(), 14U);
  EXPECT_GT(precision(further, more.data()), 0.95);
  Samples again = few;
  again.features = 14;
  again.labels = 10;
  EXPECT_GT(precision(further, again.data()), 0.95);
  EXPECT_EQ(continue_training(further, few.data()).labels(), 10U) << "smaller data leave the sizes alone";
}

TEST(ApiContinue, WhatCannotBeIsRefused) {
  const Model model = train(config_of(), tiny_samples().data());
  EXPECT_THROW(continue_training(model, tiny_samples().data(), 0), InputError);
  EXPECT_THROW(train(config_of({"train.init=somewhere"}), tiny_samples().data()), InputError);
}

TEST(ApiView, HiddenVectorsTimesLabelVectorsMakeTheScores) {
  const Data data = tiny_samples(150).data();
  for (const char* layers : {"layer.0.size=8", "layer.0.activation=tanh"}) {
    const Model model = train(config_of({layers, "layer.-1.wide=false", "neighbours.share=0"}), data);
    const std::size_t size = model.vector_size(), labels = model.labels();
    ASSERT_EQ(size, 8U);
    std::vector<float> of_labels(labels * size), hidden(data.samples() * size);
    model.label_vectors(of_labels.data());
    model.hidden_vectors(data, hidden.data(), 2);
    PredictOptions options;
    options.k = labels;
    options.scores = Scores::kLogit;
    const Predictions best = Predictor(model, options).predict(data);
    std::vector<double> bias(labels);  // remainder, equal for all samples
    for (std::size_t i = 0; i < data.samples(); ++i) {
      for (std::size_t r = 0; r < labels; ++r) {
        const std::uint32_t label = best.labels[i * labels + r];
        double product = 0.0;
        for (std::size_t u = 0; u < size; ++u)
          product += double(hidden[i * size + u]) * double(of_labels[label * size + u]);
        const double rest = double(best.scores[i * labels + r]) - product;
        if (i == 0) bias[label] = rest;
        EXPECT_NEAR(rest, bias[label], 1e-4) << layers << " " << i << " " << label;
      }
    }
  }
}

TEST(ApiView, QuickAnswersForSamplesThatComeAloneAreTheSame) {
  const Samples samples = tiny_samples(60);
  const Model model = train(config_of(), samples.data());
  PredictOptions options;
  options.k = 3;
  const Predictor usual(model, options);
  options.low_latency = true;
  const Predictor quick(model, options);
  for (std::size_t i = 0; i < 60; ++i) {
    const Predictions a = usual.predict(samples.slice(i, 1).data());
    const Predictions b = quick.predict(samples.slice(i, 1).data());
    EXPECT_EQ(a.labels, b.labels) << i;
    for (std::size_t r = 0; r < a.k; ++r) EXPECT_NEAR(a.scores[r], b.scores[r], 1e-5) << i;
  }
}

TEST(ApiView, RelatedLabelsAndFeaturesComeInOrder) {
  const Model model = train(config_of({"train.epochs=20"}), tiny_samples().data());
  const std::size_t size = model.vector_size();
  std::vector<float> vectors(model.labels() * size);
  model.label_vectors(vectors.data());
  const auto cosine = [&](std::uint32_t a, std::uint32_t b) {
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (std::size_t u = 0; u < size; ++u) {
      const double x = vectors[a * size + u], y = vectors[b * size + u];
      ab += x * y, aa += x * x, bb += y * y;
    }
    return ab / std::sqrt(aa * bb);
  };
  const auto nearest = model.nearest_labels(4, 20);
  ASSERT_EQ(nearest.size(), 8U);
  for (std::size_t r = 0; r < nearest.size(); ++r) {
    EXPECT_NEAR(nearest[r].score, cosine(4, nearest[r].id), 1e-6);
    EXPECT_GE(nearest[r > 0 ? r - 1 : 0].score, nearest[r].score);
  }
  const auto strongest = model.strongest_features(4, 2);
  ASSERT_EQ(strongest.size(), 2U);
  EXPECT_EQ(strongest[0].id, 4U);
}

// Without hidden layers, kNN and crosses the logit is linear in the features: leaving out one changes it by
// its part.
TEST(ApiView, AFeaturesPartIsWhatTheLogitLosesWithoutIt) {
  const Model model = train(Config::from_toml(R"(
train = {epochs = 2, batch_size = 32, block_size = 16}
data = {crosses = 0, normalize = false}
neighbours = {share = 0}
layer = [{kind = "sampled", uniform = 4}]
)"),
                            tiny_samples().data());
  Samples whole, without;
  whole.features = without.features = 12;
  whole.labels = without.labels = 9;
  whole.add({2, 4, 7}, {1.0F, 0.5F, 2.0F}, {0});
  without.add({2, 7}, {1.0F, 2.0F}, {0});
  const std::uint32_t label = 4;
  const auto logit = [&](const Samples& samples) {
    const Predictions all = Predictor(model, {.k = 9, .scores = Scores::kLogit}).predict(samples.data());
    const auto at = std::find(all.labels.begin(), all.labels.end(), label) - all.labels.begin();
    return double(all.scores[static_cast<std::size_t>(at)]);
  };
  const auto parts = model.explain(whole.data(), {label, kNoLabel}, 10);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_TRUE(parts[1].empty());
  const auto part =
      std::find_if(parts[0].begin(), parts[0].end(), [](const Related& one) { return one.id == 4; });
  ASSERT_NE(part, parts[0].end());
  EXPECT_NEAR(part->score, logit(whole) - logit(without), 1e-4);
  EXPECT_THROW(model.explain(whole.data(), {9}, 1), InputError);
  whole.add({1}, {1.0F}, {0});
  EXPECT_THROW(model.explain(whole.data(), {1, 2, 3}, 1), InputError);
}

TEST(ApiView, WhatIsNotThereIsRefused) {
  const Model model = train(config_of({"layer.-1.wide=false"}), tiny_samples().data());
  EXPECT_THROW(model.nearest_labels(9, 1), InputError);
  EXPECT_THROW(model.strongest_features(4, 1), InputError) << "no linear term";
  EXPECT_THROW(model.feature_name(0), InputError) << "no text";
  const Model flat = train(Config::from_toml("layer = [{kind = \"dense\"}]"), tiny_samples().data());
  std::vector<float> hidden(200 * flat.vector_size());
  EXPECT_THROW(flat.hidden_vectors(tiny_samples().data(), hidden.data()), InputError);
  Samples wide = tiny_samples();
  wide.features = 13;
  EXPECT_THROW(model.hidden_vectors(wide.data(), hidden.data()), InputError);
}

}  // namespace
}  // namespace slide::api

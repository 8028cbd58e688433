// Bounded scoring of batches gives the answers of exact scoring: of all labels, with bounds for frequent
// features and exact sums for others, or without a linear term by falling length of rows; and of those that
// inference by tables scores for every sample.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/base/rng.h"
#include "engine/inference/inference.h"
#include "engine/training/trainer.h"
#include "tests/inference/similar_labels.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

using Answers = std::vector<std::vector<Prediction>>;

DataSpec spec_of(std::uint32_t samples, std::uint64_t seed) {
  DataSpec spec;
  spec.samples = samples, spec.features = 50, spec.labels = 1500, spec.entries = 8, spec.featureless = 31;
  spec.seed = seed;
  return spec;
}

// Rounded rows of 8,192 neurons are kept, and a neuron in 8 is scored for every sample by tables.
DataSpec many_labels(std::uint32_t samples, std::uint64_t seed) {
  DataSpec spec = spec_of(samples, seed);
  spec.labels = 9000;
  return spec;
}

Trainer trainer_of(const Dataset& train, double share, Activation activation) {
  Config config = make_config({dense(24, activation), sampled(0, 20, 12)}, 32, 16);
  config.layers.back().wide = true;
  config.loss.kind = LossKind::kSigmoid;  // under softmax, votes need all scores
  config.neighbours = {share, 7, 3.0};
  config.train.epochs = 2;
  Trainer trainer(fresh_job(config, train));
  trainer.run({});
  return trainer;
}

// Of all samples in one call, or of `at_once` samples a call.
Answers answers(const Predictor& predictor, const Dataset& data, std::size_t at_once = SIZE_MAX) {
  Answers all(data.size());
  std::mutex mutex;
  for (std::size_t first = 0; first < data.size(); first += std::min(at_once, data.size())) {
    predictor.predict(data.slice(first, std::min(at_once, data.size() - first)),
                      [&](std::size_t sample, std::span<const Prediction> best) {
                        const std::lock_guard lock(mutex);
                        all[first + sample].assign(best.begin(), best.end());
                      });
  }
  return all;
}

TEST(BoundedScorer, GivesTheAnswersOfExactScores) {
  const Dataset train = make_data(spec_of(3000, 1)), data = make_data(spec_of(300, 2));
  for (const double share : {0.0, 0.3}) {
    for (const Activation activation : {Activation::kRelu, Activation::kTanh}) {
      const Trainer trainer = trainer_of(train, share, activation);
      for (const std::size_t k : {1, 5, 60, 300}) {
        InferenceOptions options;
        options.k = k;
        options.threads = 1;
        options.bound_first = false;
        const Predictor exact(trainer.trained(), options);
        options.bound_first = true;
        const Predictor bounded(trainer.trained(), options);
        EXPECT_GT(bounded.index_bytes(), exact.index_bytes() + 50 * 1500 / 16);  // some features have bounds
        const Answers want = answers(exact, data), got = answers(bounded, data);
        options.threads = 3;
        const Answers threads = answers(Predictor(trainer.trained(), options), data);
        for (std::size_t i = 0; i < data.size(); ++i) {
          ASSERT_EQ(got[i].size(), want[i].size());
          for (std::size_t r = 0; r < want[i].size(); ++r) {
            const float tolerance = 2e-5F * std::max(1.0F, std::fabs(want[i][r].score));
            ASSERT_NEAR(got[i][r].score, want[i][r].score, tolerance) << i << ", " << r << " of " << k;
            ASSERT_EQ(threads[i][r].score, got[i][r].score);
            ASSERT_EQ(threads[i][r].label, got[i][r].label);
          }
        }
      }
    }
  }
}

// A network without a linear term. A third of its rows are 3 long, with weights of any signs. The best labels
// of a sample are mostly among 2.2 long rows, an 18th of all, whose weights are positive as activations of
// ReLU are: a chunk or two between the long ones and the others, at most 1 long. Some of the shortest have
// large biases.
Trainer trainer_of_many_lengths(const Dataset& train, double share, Activation activation) {
  Config config = make_config({dense(24, activation), sampled(0, 20, 12)}, 32, 16);
  config.loss.kind = LossKind::kSigmoid;
  config.neighbours = {share, 7, 3.0};
  config.train.epochs = 1;
  Trainer trainer(fresh_job(config, train));
  trainer.run({});
  Layer& output = trainer.network().output();
  for (std::uint32_t label = 0; label < output.size(); ++label) {
    Rng rng(1, Purpose::kProbe, label);
    const bool is_long = label % 3 == 0, is_best = label % 18 == 1;
    const float length = is_long ? 3.0F : is_best ? 2.2F : 0.05F * static_cast<float>(label % 20);
    const float weight = length / std::sqrt(static_cast<float>(output.inputs()));
    for (std::size_t c = 0; c < output.inputs(); ++c)
      output.weights().row(label)[c] = (is_long && rng.below(2) == 0 ? -weight : weight) *
                                       (0.9F + 0.2F * static_cast<float>(rng.uniform()));
    *output.bias().row(label) = label % 900 == 20 ? 4.0F : 0.001F * static_cast<float>(label % 7);
  }
  return trainer;
}

// Rows are skipped for all samples of a call together.
void expect_same(const Trainer& trainer, const Dataset& data, InferenceOptions options) {
  for (const std::size_t k : {1, 5, 60}) {
    options.k = k;
    options.bound_first = false;
    const Answers want = answers(Predictor(trainer.trained(), options), data);
    options.bound_first = true;
    const Predictor bounded(trainer.trained(), options);
    for (const std::size_t at_once : {std::size_t{1}, data.size()}) {
      const Answers got = answers(bounded, data, at_once);
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

TEST(BoundedScorer, SkipsOnlyRowsThatAreTooShort) {
  const Dataset train = make_data(many_labels(3000, 1)), data = make_data(many_labels(300, 2));
  for (const double share : {0.0, 0.3}) {
    for (const Activation activation : {Activation::kRelu, Activation::kTanh}) {
      InferenceOptions options;
      options.threads = 1;
      expect_same(trainer_of_many_lengths(train, share, activation), data, options);
    }
  }
}

// Label 107 would have a sum of 255 * 127 * 70,000 in bytes, more than 32 bits hold, beside more labels than
// are candidates at once. All activations are 1/2, all sums exact.
TEST(BoundedScorer, SumsOfVeryWideLayersDoNotOverflow) {
  DataSpec spec = spec_of(64, 1);
  spec.labels = 150;
  const Dataset train = make_data(spec);
  Config config = make_config({dense(70'000, Activation::kSigmoid), sampled(0, 20, 12)}, 32, 16);
  config.loss.kind = LossKind::kSigmoid;
  config.layers.front().init_scale = 0.0;
  Trainer trainer(fresh_job(config, train));
  Network& network = trainer.network();
  for (std::uint32_t label = 0; label < 150; ++label) {
    for (std::size_t c = 0; c < 70'000; ++c)
      network.output().weights().row(label)[c] = (label == 107 || c % 2 == 0 ? 1.0F : -1.0F) * 127 * 0x1p-17F;
    *network.output().bias().row(label) = label == 107 ? 0.0F : 1.0F;
  }
  InferenceOptions options;
  options.threads = 1;
  for (const bool alone : {false, true}) {
    options.low_latency = alone;
    expect_same(trainer, train, options);
  }
}

TEST(BoundedScorer, NeuronsThatTablesLeaveOutHaveTheirExactScores) {
  const Dataset train = make_data(many_labels(3000, 1)), data = make_data(many_labels(300, 2));
  for (const double share : {0.0, 0.3}) {
    for (const Activation activation : {Activation::kRelu, Activation::kTanh}) {
      InferenceOptions options;
      options.mode = Inference::kLsh;
      options.candidates = 64;
      options.threads = 1;
      expect_same(trainer_of_many_lengths(train, share, activation), data, options);
    }
  }
}

TEST(BoundedScorer, FindsTheTopKWhereAllLabelsAreSimilar) {
  const Dataset train = make_data(spec_of(3000, 1)), data = make_data(spec_of(200, 2));
  Trainer trainer = trainer_of(train, 0.3, Activation::kRelu);
  make_labels_similar(trainer.network());
  InferenceOptions options;
  options.bound_first = false;
  const Answers want = answers(Predictor(trainer.trained(), options), data);
  options.bound_first = true;
  const Answers got = answers(Predictor(trainer.trained(), options), data);
  for (std::size_t i = 0; i < data.size(); ++i) {
    ASSERT_EQ(got[i].size(), want[i].size());
    for (std::size_t r = 0; r < want[i].size(); ++r) ASSERT_NEAR(got[i][r].score, want[i][r].score, 2e-5F);
  }
}

// Samples of which one has activations that overflow and, with the linear term, one a value below 0: neither
// has bounds.
Dataset some_without_bounds(const Dataset& drawn) {
  std::vector<Sample> rows;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    Sample row;
    const SparseRow from = drawn.features(i);
    for (std::size_t f = 0; f < from.ids.size(); ++f)
      row.features.emplace_back(from.ids[f], i == 17 ? 3e38F : i == 40 ? -from.values[f] : from.values[f]);
    rows.push_back(row);
  }
  return dataset_of(rows, drawn.feature_count(), drawn.label_count());
}

void expect_by_row(const Trainer& trainer, const Dataset& data) {
  InferenceOptions options;
  options.by_row = true;
  options.bound_first = true;
  const Predictor predictor(trainer.trained(), options);
  const Answers together = answers(predictor, data), alone = answers(predictor, data, 1);
  options.bound_first = false;
  const Answers exact = answers(Predictor(trainer.trained(), options), data);
  for (std::size_t i = 0; i < data.size(); ++i) {
    ASSERT_EQ(together[i].size(), alone[i].size()) << i;
    ASSERT_EQ(together[i].size(), exact[i].size()) << i;
    for (std::size_t r = 0; r < alone[i].size(); ++r) {
      ASSERT_EQ(together[i][r].label, alone[i][r].label) << i;
      ASSERT_EQ(together[i][r].score, alone[i][r].score) << i;
      const float tolerance = 2e-5F * std::max(1.0F, std::fabs(exact[i][r].score));
      ASSERT_NEAR(together[i][r].score, exact[i][r].score, tolerance) << i;
    }
  }
}

// Where bounds prune too little, and where a sample has none, other samples of the block do not matter.
TEST(BoundedScorer, ScoresByRowAreTheSamplesOwnWhereBoundsFail) {
  const Dataset train = make_data(many_labels(3000, 1)),
                data = some_without_bounds(make_data(many_labels(90, 2)));
  Trainer plain = trainer_of_many_lengths(train, 0.3, Activation::kRelu),
          wide = trainer_of(train, 0.3, Activation::kRelu);
  expect_by_row(plain, data);
  expect_by_row(wide, data);
  for (float& w : plain.network().output().weights().weights) w = 1e-3F * std::fabs(w);
  make_labels_similar(wide.network());
  expect_by_row(plain, data);
  expect_by_row(wide, data);
}

}  // namespace
}  // namespace slide::test

// Tests of label sums and of the fitted initialisation.
#include "engine/wide/output_init.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/rng.h"
#include "engine/statistics/label_sums.h"
#include "engine/training/trainer.h"
#include "engine/wide/linear_term.h"
#include "tests/network/network_test_util.h"

namespace slide {
namespace {

using test::dataset_of;
using test::Sample;

constexpr std::uint32_t kLabels = 60, kEach = 8;

// kEach samples of each of `labels` labels, of unit length. `told` of each sample's four features are among
// its label's own two; the others are random.
Dataset labelled_data(std::uint32_t told, std::uint32_t labels = kLabels) {
  Rng rng(3, Purpose::kTest, told);
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < labels * kEach; ++i) {
    const std::uint32_t label = i % labels;
    std::vector<std::uint32_t> ids;
    for (std::uint32_t k = 0; k < told; ++k) ids.push_back(2 * label + k);
    while (ids.size() < 4) {
      const std::uint32_t id = 2 * labels + rng.below(labels);
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    Sample sample;
    for (const std::uint32_t id : ids) sample.features.emplace_back(id, 0.5f);
    sample.labels = {label};
    samples.push_back(sample);
  }
  return dataset_of(samples, 3 * labels, labels);
}

OutputInit fit(const Dataset& data, double negatives, std::uint64_t seed = 1, int threads = 1) {
  const auto start = fit_output_init(data, data.label_frequencies(), {}, negatives, seed, threads);
  EXPECT_TRUE(start.has_value());
  return start.value_or(OutputInit{});
}

TEST(LabelSums, AddUpTheSamplesOfALabel) {
  const Dataset data =
      dataset_of({{{{0, 1.0f}, {2, 2.0f}}, {1}}, {{{2, 3.0f}, {3, 1.0f}}, {0, 1}}, {{{1, 5.0f}}, {}}}, 5, 3);
  const FeatureScale scale;
  const LabelSums sums(data, 3, scale);
  EXPECT_EQ(std::vector(sums.samples(1).begin(), sums.samples(1).end()), (std::vector<std::uint32_t>{0, 1}));
  LabelSums::Sum sum = sums.make_sum();
  sums.add_up(1, sum);
  EXPECT_EQ(sum.values, (std::vector<float>{1, 0, 5, 1, 0}));
  EXPECT_DOUBLE_EQ(sum.square, 27.0);
  sums.add_up(0, sum);  // nothing of label 1 remains
  EXPECT_EQ(sum.values, (std::vector<float>{0, 0, 3, 1, 0}));
  sums.add_up(2, sum);
  EXPECT_TRUE(sum.ids.empty());
  EXPECT_DOUBLE_EQ(sum.square, 0.0);
}

TEST(LabelSums, ListAFeatureOnceThoughItsValuesCancel) {
  const Dataset data = dataset_of({{{{1, 1.0f}}, {0}}, {{{1, -1.0f}}, {0}}, {{{1, 2.0f}}, {0}}}, 2, 1);
  const FeatureScale scale;
  const LabelSums sums(data, 1, scale);
  LabelSums::Sum sum = sums.make_sum();
  sums.add_up(0, sum);
  EXPECT_EQ(sum.ids, std::vector<std::uint32_t>{1});
  EXPECT_DOUBLE_EQ(sum.square, 4.0);
}

TEST(OutputInit, TheFirstWeightsAreLongOnlyWhereTheFeaturesTellTheLabel) {
  EXPECT_LT(fit(labelled_data(0), 1024).scale, 2.0);
  EXPECT_GT(fit(labelled_data(1), 1024).scale, 5.0);
  EXPECT_GT(fit(labelled_data(2), 1024).scale, 5.0);
}

// All labels are equally frequent and similarity is uninformative: the model can only give each label its
// share of the observed pairs.
TEST(OutputInit, WithoutEvidenceItGivesTheShareOfPositives) {
  const OutputInit start = fit(labelled_data(0), kLabels);
  const double logit = start.offset + start.prior * log_odds(kEach, kLabels * kEach);
  EXPECT_NEAR(logit, std::log(1.0 / (kLabels - 1.0)), 0.5);  // and a little similarity
}

TEST(OutputInit, FewerNegativesRaiseTheLogit) {
  const Dataset data = labelled_data(1, 1500);
  const auto logit = [&](double negatives) {
    const OutputInit start = fit(data, negatives);
    return start.offset + start.prior * log_odds(kEach, data.size());
  };
  EXPECT_GT(logit(10), logit(1500) + 0.5);  // the labels of a block are always negatives
}

TEST(OutputInit, DoesNotDependOnThreads) {
  const Dataset data = labelled_data(1);
  const OutputInit one = fit(data, 1024, 7, 1), three = fit(data, 1024, 7, 3), other = fit(data, 1024, 8, 1);
  EXPECT_EQ(one.scale, three.scale);
  EXPECT_EQ(one.prior, three.prior);
  EXPECT_EQ(one.offset, three.offset);
  EXPECT_NE(one.scale, other.scale);
  EXPECT_NEAR(one.scale, other.scale, 0.2 * one.scale);
}

TEST(OutputInit, IsNoneWhereEveryLabelHasOneSample) {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < 200; ++i) samples.push_back({{{i % 10, 1.0f}}, {i}});
  const Dataset data = dataset_of(samples, 10, 200);
  EXPECT_FALSE(fit_output_init(data, data.label_frequencies(), {}, 100, 1, 1).has_value());
}

TEST(OutputInit, StaysFiniteWhereLabelsCanBeToldWithoutAFault) {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < 400; ++i) samples.push_back({{{i % 40, 1.0f}}, {i % 40}});
  const OutputInit start = fit(dataset_of(samples, 40, 40), 40);
  EXPECT_TRUE(std::isfinite(start.scale) && std::isfinite(start.offset));
  EXPECT_GT(start.scale, 5.0);
}

// Where samples are less similar to their own labels than to others, an unbounded fit would give a negative
// scale and an offset that compensates it. The bound prevents both; rows without features get about the share
// of positives.
TEST(OutputInit, SimilarityNeverCountsAgainstALabel) {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < 300; ++i)
    samples.push_back({{{i % 7, 0.4f}, {7 + i % 11, 0.2f}, {20 + i % 4, 0.9f}}, {i % 5, 5 + i % 3}});
  const Dataset data = dataset_of(samples, 24, 8);
  const OutputInit start = fit(data, 1024);
  EXPECT_GE(start.scale, 0.0);
  EXPECT_GE(start.prior, 0.0);
  EXPECT_LE(start.prior, 1.0);
  for (const std::uint32_t with : {60U, 100U}) {
    const double odds = log_odds(with, data.size());
    EXPECT_NEAR(start.prior * odds + start.offset, odds, 1.0) << with;
  }
}

Config wide_config(double share) {
  Config config = test::small_wide_config();
  LayerConfig& output = config.layers.back();
  output.wide_features = 1000;
  output.wide_scale = 2.0;
  output.wide_fit = share;
  return config;
}

TEST(OutputInit, BiasesAndWideWeightsStartAtItsShare) {
  const Dataset data = labelled_data(1);
  const OutputInit fitted = fit(data, 20);
  for (const double share : {0.0, 0.25, 1.0}) {
    const Config config = wide_config(share);
    const Trainer trainer(fresh_job(config, data));
    const Layer& output = trainer.network().output();
    const double odds = log_odds(kEach, data.size());
    const double length = share > 0 ? share * fitted.scale : 2.0;
    const double bias = share > 0 ? share * (fitted.prior * odds + fitted.offset) : config.loss.prior * odds;
    for (std::uint32_t label = 0; label < kLabels; ++label) {
      const auto& wide = linear_term_of(output)->storage();
      double square = 0.0;
      for (std::uint64_t i = wide.offsets[label]; i < wide.offsets[label + 1]; ++i)
        square += double(wide.weights[i]) * wide.weights[i];
      EXPECT_NEAR(std::sqrt(square), length, 1e-4 * length);
      EXPECT_NEAR(*output.bias().row(label), bias, 1e-5);
    }
  }
}

}  // namespace
}  // namespace slide

// Tests of the active neurons of a block: labels, candidates, negative samples and their logQ corrections.
#include "engine/network/active_set.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

using Ids = std::vector<std::uint32_t>;

constexpr std::size_t kNeurons = 300;

LayerConfig sources(std::uint32_t lsh, std::uint32_t uniform, std::uint32_t frequency = 0) {
  LayerConfig layer = sampled(0, lsh, uniform);
  layer.frequency = frequency;
  layer.hash.k = 3;
  layer.hash.range_pow = 3;
  layer.hash.tables = 20;
  layer.hash.bucket_capacity = 64;
  return layer;
}

Ids decreasing_frequencies() {
  Ids weights(kNeurons);
  for (std::size_t i = 0; i < kNeurons; ++i) weights[i] = static_cast<std::uint32_t>(1000 / (i + 1));
  return weights;
}

std::vector<std::span<const std::uint32_t>> views(const std::vector<Ids>& labels) {
  return {labels.begin(), labels.end()};
}

// An index over random rows, and a block of random vectors as queries.
struct Asked {
  explicit Asked(const LayerConfig& layer)
      : index(layer.hash, kNeurons, 16, 1), w(kNeurons * 16), xt(16 * 16) {
    Rng rng(1, Purpose::kTest);
    for (float& value : w) value = static_cast<float>(rng.normal());
    for (float& value : xt) value = static_cast<float>(rng.normal());
    index.rebuild({w.data(), 16}, 1, 1);
  }
  lsh::QueryBlock block() const { return {xt.data(), 16, 16, 16}; }

  lsh::NeuronIndex index;
  AlignedArray<float> w, xt;
};

void expect_labels_in_place(const std::vector<Ids>& labels, const ActiveSet& set) {
  ASSERT_EQ(set.label_offsets.size(), labels.size() + 1);
  for (std::size_t s = 0; s < labels.size(); ++s) {
    Ids found;
    for (const std::uint32_t position : set.labels_of(s)) found.push_back(set.ids.at(position));
    ASSERT_EQ(found, labels[s]) << "sample " << s;
  }
}

// More draws than that repeat neurons only; 2^31 of them took minutes a block.
TEST(ActiveSet, DrawsByFrequencyAreBounded) {
  const Ids weights = decreasing_frequencies();
  ActiveSet sets[2];
  for (int i = 0; i < 2; ++i) {
    const ActiveSampler sampler(sources(0, 0, i == 0 ? 65536 : 2147483647), kNeurons, weights);
    SamplerScratch scratch = sampler.make_scratch(nullptr, 16);
    sampler.select({}, nullptr, Rng(3, Purpose::kTest), scratch, sets[i]);
  }
  EXPECT_EQ(sets[0].ids, sets[1].ids);
  EXPECT_EQ(sets[0].correction, sets[1].correction);
}

TEST(ActiveSet, HoldsLabelsCandidatesAndFillDistinctAndCorrected) {
  const LayerConfig layer = sources(40, 25);
  const ActiveSampler sampler(layer, kNeurons, {});
  const Asked asked(layer);
  SamplerScratch scratch = sampler.make_scratch(&asked.index, 16);
  const std::vector<Ids> labels = {{3, 9, 250}, {}, {9}, {0, 299}, {3, 4}};  // 6 distinct
  const auto of_block = views(labels);
  ActiveSet set;
  for (std::uint64_t step = 0; step < 50; ++step) {
    sampler.select({asked.block(), {}, of_block}, &asked.index, Rng(1, Purpose::kSampling, step), scratch,
                   set);
    ASSERT_EQ(set.ids.size(), 6u + 40u + 25u);
    ASSERT_EQ(std::set<std::uint32_t>(set.ids.begin(), set.ids.end()).size(), set.ids.size());
    for (const std::uint32_t id : set.ids) ASSERT_LT(id, kNeurons);
    expect_labels_in_place(labels, set);
    ASSERT_EQ(set.correction.size(), set.ids.size());
    const double stands_for = std::log((double(kNeurons) - 46.0) / 25.0);
    for (std::size_t a = 0; a < set.ids.size(); ++a) {
      ASSERT_NEAR(set.correction[a], a < 46 ? 0.0 : stands_for, 1e-6) << a;
    }
  }
}

TEST(ActiveSet, CandidatesAreThoseOfTheIndex) {
  const LayerConfig layer = sources(40, 0);
  const ActiveSampler sampler(layer, kNeurons, {});
  const Asked asked(layer);
  SamplerScratch scratch = sampler.make_scratch(&asked.index, 16);
  ActiveSet set;
  sampler.select({asked.block(), {}, {}}, &asked.index, Rng(1, Purpose::kSampling, 7), scratch, set);
  Ids want;
  lsh::IdSet seen(kNeurons);
  lsh::QueryScratch query = asked.index.make_scratch(16);
  Rng rng(1, Purpose::kSampling, 7);
  asked.index.query(asked.block(), 40, rng, query, seen, want);
  EXPECT_EQ(set.ids, want);
}

TEST(ActiveSet, MoreLabelsThanNegativeSamplesAllStay) {
  const LayerConfig layer = sources(0, 2);
  const ActiveSampler sampler(layer, kNeurons, {});
  SamplerScratch scratch = sampler.make_scratch(nullptr, 16);
  std::vector<Ids> labels(2);
  for (std::uint32_t i = 0; i < 200; ++i) labels[i % 2].push_back(i);
  const auto of_block = views(labels);
  ActiveSet set;
  sampler.select({{}, {}, of_block}, nullptr, Rng(1, Purpose::kSampling), scratch, set);
  EXPECT_EQ(set.ids.size(), 202u);
  expect_labels_in_place(labels, set);
  EXPECT_NEAR(set.correction.back(), std::log(100.0 / 2.0), 1e-6);
}

TEST(ActiveSet, ThePowerOfTheCorrectionWeakensWhatStandsForOthers) {
  LayerConfig layer = sources(0, 20);
  layer.logq_power = 0.5;
  const ActiveSampler uniform(layer, kNeurons, {});
  SamplerScratch scratch = uniform.make_scratch(nullptr, 1);
  ActiveSet set;
  uniform.select({}, nullptr, Rng(1, Purpose::kSampling), scratch, set);
  EXPECT_NEAR(set.correction.back(), std::log(std::sqrt(double(kNeurons) / 20.0)), 1e-6);
  EXPECT_EQ(set.sources.uniform, 20);
  EXPECT_EQ(set.sources.labels + set.sources.tables + set.sources.frequency, 0);
}

TEST(ActiveSet, FillStopsWhenEveryNeuronIsActive) {
  const ActiveSampler sampler(sources(0, 1000), kNeurons, {});
  SamplerScratch scratch = sampler.make_scratch(nullptr, 1);
  const std::vector<Ids> labels = {{7, 8}};
  const auto of_block = views(labels);
  ActiveSet set;
  sampler.select({{}, {}, of_block}, nullptr, Rng(1, Purpose::kSampling), scratch, set);
  EXPECT_EQ(std::set<std::uint32_t>(set.ids.begin(), set.ids.end()).size(), kNeurons);
  EXPECT_EQ(set.ids.size(), kNeurons);
  for (const float correction : set.correction) EXPECT_EQ(correction, 0.0f);
}

TEST(ActiveSet, WithoutCorrectionEveryNeuronStandsForItself) {
  LayerConfig layer = sources(0, 20, 10);
  layer.logq_correction = false;
  const ActiveSampler sampler(layer, kNeurons, decreasing_frequencies());
  SamplerScratch scratch = sampler.make_scratch(nullptr, 1);
  ActiveSet set;
  sampler.select({}, nullptr, Rng(1, Purpose::kSampling), scratch, set);
  for (const float correction : set.correction) EXPECT_EQ(correction, 0.0f);
}

TEST(ActiveSet, FrequencySamplesComeBeforeTheFillAndStandForTheRest) {
  const Ids weights = decreasing_frequencies();
  const AliasTable alias(weights);
  for (const std::uint32_t uniform : {0, 20}) {
    const ActiveSampler sampler(sources(0, uniform, 30), kNeurons, weights);
    SamplerScratch scratch = sampler.make_scratch(nullptr, 1);
    ActiveSet set;
    sampler.select({}, nullptr, Rng(1, Purpose::kSampling), scratch, set);
    const std::size_t drawn = set.ids.size() - uniform;
    ASSERT_GT(drawn, 5u);
    ASSERT_LE(drawn, 30u);
    ASSERT_EQ(set.correction.size(), set.ids.size());
    for (std::size_t a = 0; a < drawn; ++a) {
      const double expected = std::max(0.0, -std::log(30.0 * alias.probability(set.ids[a])));
      ASSERT_NEAR(set.correction[a], uniform == 0 ? expected : 0.0, 1e-5);
    }
    for (std::size_t a = drawn; a < set.ids.size(); ++a) {
      ASSERT_NEAR(set.correction[a], std::log(double(kNeurons - drawn) / uniform), 1e-5);
    }
  }
}

// Both sampling methods (rejection, selection) give every free neuron the same probability, and labels none.
TEST(ActiveSet, FillIsUniformOverTheRest) {
  for (const std::uint32_t uniform : {30, 220}) {
    const ActiveSampler sampler(sources(0, uniform), kNeurons, {});
    SamplerScratch scratch = sampler.make_scratch(nullptr, 1);
    const std::vector<Ids> labels = {{0, 150, 299}};
    const auto of_block = views(labels);
    constexpr std::size_t kRounds = 2000, kFree = kNeurons - 3;
    std::vector<double> counts(kNeurons, 0.0);
    ActiveSet set;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      sampler.select({{}, {}, of_block}, nullptr, Rng(1, Purpose::kSampling, round), scratch, set);
      for (std::size_t a = 3; a < set.ids.size(); ++a) ++counts[set.ids[a]];
    }
    const double p = double(uniform) / kFree, variance = kRounds * p * (1 - p);
    double chi_square = 0.0;
    for (std::uint32_t i = 0; i < kNeurons; ++i) {
      if (i == 0 || i == 150 || i == 299) continue;
      chi_square += (counts[i] - kRounds * p) * (counts[i] - kRounds * p) / variance;
    }
    // Approximately chi-square with 296 degrees of freedom: standard deviation 24; five of them to each side.
    EXPECT_NEAR(chi_square, 296.0, 122.0) << uniform;
  }
}

TEST(ActiveSet, DependsOnTheStreamOnly) {
  const ActiveSampler sampler(sources(0, 30, 10), kNeurons, decreasing_frequencies());
  SamplerScratch a = sampler.make_scratch(nullptr, 1), b = sampler.make_scratch(nullptr, 1);
  ActiveSet first, second, third;
  sampler.select({}, nullptr, Rng(1, Purpose::kSampling, 1), a, first);
  sampler.select({}, nullptr, Rng(1, Purpose::kSampling, 2), a, third);
  sampler.select({}, nullptr, Rng(1, Purpose::kSampling, 1), a, second);
  EXPECT_EQ(first.ids, second.ids);
  EXPECT_NE(first.ids, third.ids);
  sampler.select({}, nullptr, Rng(1, Purpose::kSampling, 1), b, second);
  EXPECT_EQ(first.ids, second.ids);
}

TEST(AliasTable, DrawsInProportion) {
  const Ids weights = {5, 0, 1, 40, 3, 3, 0, 48};
  const AliasTable table(weights);
  constexpr int kDraws = 100'000;
  std::vector<double> counts(weights.size(), 0.0);
  Rng rng(1, Purpose::kTest);
  for (int i = 0; i < kDraws; ++i) ++counts[table.draw(rng)];
  double chi_square = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_NEAR(table.probability(static_cast<std::uint32_t>(i)), weights[i] / 100.0, 1e-7);
    if (weights[i] == 0) {
      EXPECT_EQ(counts[i], 0.0);
    } else {
      const double expected = kDraws * weights[i] / 100.0;
      chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
  }
  EXPECT_LT(chi_square, 30.0);  // 5 degrees of freedom: above 25 once in 10^4
}

TEST(AliasTable, PowerLawOfManyNeurons) {
  Ids weights(5000);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<std::uint32_t>(100'000 / (i + 1));
  const AliasTable table(weights);
  double mean = 0.0, want = 0.0, squares = 0.0;  // of log(1 + id)
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    const double x = std::log1p(i);
    want += table.probability(i) * x, squares += table.probability(i) * x * x;
  }
  constexpr int kDraws = 50'000;
  Rng rng(2, Purpose::kTest);
  for (int i = 0; i < kDraws; ++i) mean += std::log1p(table.draw(rng)) / kDraws;
  EXPECT_NEAR(mean, want, 5.0 * std::sqrt((squares - want * want) / kDraws));
}

TEST(AliasTable, OneNeuronAndEqualWeights) {
  Rng rng(1, Purpose::kTest);
  EXPECT_EQ(AliasTable(Ids{7}).draw(rng), 0u);
  const AliasTable equal(Ids{2, 2, 2, 2});
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 100; ++i) seen.insert(equal.draw(rng));
  EXPECT_EQ(seen.size(), 4u);
}

// The candidates of a layer above a sampled one depend on that layer's values, not on the data's features.
TEST(ActiveSet, CandidatesAboveASampledLayerFollowItsValues) {
  DataSpec spec;
  spec.samples = 16, spec.features = 12, spec.labels = 200, spec.max_labels = 1;
  const Dataset data = make_data(spec);
  for (const std::uint32_t block : {1, 16}) {
    Config config = make_config({sampled(16, 0, 16, Activation::kLinear), sampled(0, 20, 0)}, 16, block);
    config.layers[1].hash = sources(0, 0).hash;
    std::vector<std::vector<Ids>> chosen;
    for (const float sign : {1.0f, -1.0f}) {
      Network network(config, shape_of_data(data));
      network.initialise(1);
      for (float& w : network.layers()[0].weights().weights) w *= sign;
      network.rebuild_index(1, 1);
      Stepper stepper(network, data);
      stepper.train(0, 16, 0);
      auto& sets = chosen.emplace_back();
      for (const Block& at : stepper.blocks()) sets.push_back(at.layers.back().set.ids);
    }
    EXPECT_NE(chosen[0], chosen[1]) << "block " << block;
  }
}

}  // namespace
}  // namespace slide::test

// Tests of the evidence for label margins: against predictions by definition, in double, and in trainings.
#include "engine/wide/margin_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "tests/training/training_trace.h"

namespace slide::test {
namespace {

using Values = std::map<std::uint32_t, double>;

Values values_of(const SparseRow& row) {
  Values values;
  for (std::size_t i = 0; i < row.ids.size(); ++i) values[row.ids[i]] = row.values[i];
  return values;
}

double product_of(const Values& a, const Values& b) {
  double product = 0.0;
  for (const auto& [id, value] : a)
    if (const auto at = b.find(id); at != b.end()) product += value * at->second;
  return product;
}

double length_of(const Values& a) {
  return std::sqrt(product_of(a, a));
}

bool has_label(const Dataset& data, std::uint32_t sample, std::uint32_t label) {
  const auto labels = data.labels(sample);
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// The label with the largest score, of equal ones the lowest.
std::uint32_t best_of(const std::map<std::uint32_t, double>& scores) {
  return std::max_element(scores.begin(), scores.end(), [](auto& a, auto& b) { return a.second < b.second; })
      ->first;
}

// By the initial logits, without the sample itself.
std::uint32_t best_by_sums(const Dataset& data, const OutputInit& start, std::uint32_t sample) {
  const std::vector<std::uint32_t> frequencies = data.label_frequencies();
  std::map<std::uint32_t, double> logits;
  for (std::uint32_t label = 0; label < data.label_count(); ++label) {
    Values sum;
    for (std::uint32_t other = 0; other < data.samples(); ++other)
      if (other != sample && has_label(data, other, label))
        for (const auto& [id, value] : values_of(data.features(other))) sum[id] += value;
    const double length = length_of(sum);
    const double similarity = length > 0 ? product_of(values_of(data.features(sample)), sum) / length : 0.0;
    logits[label] = start.scale * similarity + start.prior * log_odds(frequencies[label], data.samples());
  }
  return best_of(logits);
}

// By the vote of the most similar other samples.
std::uint32_t best_by_neighbours(const Dataset& data, const NeighbourConfig& config, std::uint32_t sample) {
  const Values own = values_of(data.features(sample));
  std::vector<std::pair<double, std::uint32_t>> nearest;
  for (std::uint32_t other = 0; other < data.samples(); ++other) {
    const Values values = values_of(data.features(other));
    const double lengths = length_of(own) * length_of(values);
    const double cosine = lengths > 0 ? product_of(own, values) / lengths : 0.0;
    if (other != sample && cosine > 0 && !data.labels(other).empty()) nearest.emplace_back(-cosine, other);
  }
  std::sort(nearest.begin(), nearest.end());
  nearest.resize(std::min<std::size_t>(nearest.size(), config.count));
  std::map<std::uint32_t, double> votes;
  for (const auto& [cosine, other] : nearest)
    for (const std::uint32_t label : data.labels(other)) votes[label] += std::pow(-cosine, config.power);
  return votes.empty() ? std::numeric_limits<std::uint32_t>::max() : best_of(votes);
}

Neighbours neighbours_of(const Dataset& data, const NeighbourConfig& config) {
  return std::move(fit_neighbours(config, data, {}, nullptr, 1).neighbours);
}

TEST(MarginEvidence, IsThePrecisionOfBothPredictionsWithoutTheSampleItself) {
  NeighbourConfig config;
  config.share = 0.3, config.count = 7, config.learn = false;
  for (const OutputInit& start : {OutputInit{9.0, 0.5, -2.0}, OutputInit{3.0, 1.5, 0.0}}) {
    DataSpec spec = wide_data();
    spec.samples = 400, spec.features = 60, spec.featureless = 17, spec.unlabelled = 11;
    const Dataset data = make_data(spec);
    std::size_t labelled = 0, by_sums = 0, by_neighbours = 0;
    for (std::uint32_t i = 0; i < data.samples(); ++i) {
      if (data.labels(i).empty()) continue;
      ++labelled;
      by_sums += has_label(data, i, best_by_sums(data, start, i)) ? 1 : 0;
      by_neighbours += has_label(data, i, best_by_neighbours(data, config, i)) ? 1 : 0;
    }
    const Neighbours neighbours = neighbours_of(data, config);
    const auto evidence = [&](int threads) {
      return margin_evidence(data, data.label_frequencies(), {}, start, config, neighbours, 1, threads);
    };
    const MarginEvidence one = evidence(1), three = evidence(3);
    ASSERT_EQ(one.samples, labelled);
    EXPECT_GT(by_sums, 10U);
    EXPECT_GT(by_neighbours, 10U);
    // The similarity is stored in fewer bits: a vote or two may be equal.
    EXPECT_NEAR(one.by_sums, double(by_sums) / double(labelled), 0.1 / double(labelled));
    EXPECT_NEAR(one.by_neighbours, double(by_neighbours) / double(labelled), 2.1 / double(labelled));
    EXPECT_EQ(one.by_sums, three.by_sums);
    EXPECT_EQ(one.by_neighbours, three.by_neighbours);
  }
}

TEST(MarginEvidence, LeavesOutOneOfEqualSamples) {
  NeighbourConfig config;
  config.share = 0.3, config.count = 5, config.learn = false;
  // Samples 0 and 1 are equal, 2 is the only one of its label and near them.
  const Dataset data = dataset_of(
      {{{{0, 1.0F}, {1, 1.0F}}, {0}}, {{{0, 1.0F}, {1, 1.0F}}, {0}}, {{{1, 1.0F}, {2, 0.2F}}, {1}}}, 3, 2);
  const MarginEvidence evidence = margin_evidence(data, data.label_frequencies(), {}, {4.0, 0.0, 0.0}, config,
                                                  neighbours_of(data, config), 1, 1);
  EXPECT_EQ(evidence.samples, 3U);
  EXPECT_DOUBLE_EQ(evidence.by_sums, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(evidence.by_neighbours, 2.0 / 3.0);
}

TEST(MarginEvidence, IsOfNoSampleWithoutLabels) {
  const Dataset data = dataset_of({{{{0, 1.0F}}, {}}, {{{1, 1.0F}}, {}}}, 3, 2);
  NeighbourConfig config;
  config.share = 0.3, config.learn = false;
  const MarginEvidence evidence = margin_evidence(data, data.label_frequencies(), {}, {4.0, 0.5, 0.0}, config,
                                                  neighbours_of(data, config), 1, 1);
  EXPECT_EQ(evidence.samples, 0U);
  EXPECT_EQ(evidence.share(), 0.0);
}

// Each sample has three features that all labels share and a strong one of its label, or, not `similar`, a
// weak one that a single other sample of its label has too.
Dataset labelled_samples(bool similar) {
  Rng rng(9, Purpose::kTest);
  std::vector<Sample> samples;
  constexpr std::uint32_t kLabels = 30, kSame = 8, kShared = 12;
  for (std::uint32_t i = 0; i < kLabels * kSame; ++i) {
    const std::uint32_t label = i / kSame, own = kShared + (similar ? label : i / 2);
    Values features{{own, similar ? 3.0 : 0.6}};
    while (features.size() < 4) features[rng.below(kShared)] = 1.0;
    Sample& sample = samples.emplace_back();
    for (const auto& [id, value] : features) sample.features.emplace_back(id, static_cast<float>(value));
    sample.labels = {label};
  }
  return dataset_of(samples, kShared + kLabels * kSame / 2, kLabels);
}

Config choice_config() {
  Config config = full_config({dense(18), sampled(0, 20, 12)});
  config.loss.kind = LossKind::kSigmoid;
  config.layers.back().wide = true;
  config.neighbours.share = 0.3;
  return config;
}

TEST(MarginChoice, TakesMarginsWhereSumsPredictAsWellAsNeighbours) {
  for (const bool similar : {true, false}) {
    const Dataset data = labelled_samples(similar);
    Config config = choice_config();
    config.layers.back().wide_margin = std::nullopt;
    const Trainer trainer(fresh_job(config, data));
    const MarginEvidence& evidence = trainer.margin_evidence();
    ASSERT_EQ(evidence.samples, data.samples());
    EXPECT_EQ(evidence.share(), similar ? 1.0 : 0.0) << evidence.by_sums << " " << evidence.by_neighbours;
    const Trace chosen = train(config, data);
    config.layers.back().wide_margin = similar ? 1.0 : 0.0;
    EXPECT_TRUE(same_bits(chosen, train(config, data)));
    config.layers.back().wide_margin = similar ? 0.0 : 1.0;
    EXPECT_FALSE(same_bits(chosen, train(config, data)));
    config.layers.back().wide_margin = std::nullopt;
    config.train.threads = 5;
    EXPECT_TRUE(same_bits(chosen, train(config, data)));
  }
}

TEST(MarginChoice, TakesNoneWithoutNeighbours) {
  const Dataset data = labelled_samples(true);
  Config config = choice_config();
  config.neighbours.share = 0.0;
  config.layers.back().wide_margin = std::nullopt;
  EXPECT_EQ(Trainer(fresh_job(config, data)).margin_evidence().samples, 0U);
  const Trace chosen = train(config, data);
  config.layers.back().wide_margin = 0.0;
  EXPECT_TRUE(same_bits(chosen, train(config, data)));
}

}  // namespace
}  // namespace slide::test

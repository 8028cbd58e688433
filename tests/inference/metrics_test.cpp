// Tests of metrics, against values computed by hand.
#include "engine/inference/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/base/error.h"

namespace slide {
namespace {

using Labels = std::vector<std::uint32_t>;

Metrics::Propensities weights(std::vector<double> values) {
  return std::make_shared<const InversePropensities>(std::move(values));
}

TEST(Metrics, WithoutSamplesEverythingIsZero) {
  const Metrics metrics({1, 3}, weights({1.0}));
  EXPECT_EQ(metrics.precision(1), 0);
  EXPECT_EQ(metrics.ndcg(3), 0);
  EXPECT_EQ(metrics.recall(3), 0);
  EXPECT_EQ(metrics.psp(3), 0);
}

TEST(Metrics, PropensitiesThatAreNoNumbersAreRefused) {
  const Labels frequencies = {3, 1};
  for (const auto& [a, b] : {std::pair(1e30, 1e30), {800.0, 1.5}})
    EXPECT_THROW(InversePropensities(frequencies, 40, a, b), InputError) << a;
  EXPECT_NO_THROW(InversePropensities(frequencies, 40, 10.0, 1000.0));
}

TEST(Metrics, ARatioOfSumsIsAtMostOne) {
  ASSERT_GT((0.1 + 0.2) + 0.3, (0.3 + 0.2) + 0.1);  // in doubles
  Metrics metrics({3}, weights({0.1, 0.2, 0.3}));
  metrics.add(Labels{0, 1, 2}, Labels{0, 1, 2});
  EXPECT_EQ(metrics.psp(3), 1.0);
  EXPECT_LE(metrics.psndcg(3), 1.0);
}

TEST(Metrics, HitRateAndReciprocalRankAreOfTheFirstHit) {
  Metrics metrics({1, 2, 4});
  metrics.add(Labels{3, 1, 2, 0}, Labels{0, 1});  // second and fourth
  metrics.add(Labels{5, 6}, Labels{5});
  metrics.add(Labels{5, 6}, Labels{7});
  metrics.add(Labels{5, 6}, Labels{});
  EXPECT_DOUBLE_EQ(metrics.hit_rate(1), 0.25);
  EXPECT_DOUBLE_EQ(metrics.hit_rate(2), 0.5);
  EXPECT_DOUBLE_EQ(metrics.mrr(1), 0.25);
  EXPECT_DOUBLE_EQ(metrics.mrr(4), (0.5 + 1.0) / 4);
  EXPECT_FALSE(metrics.to_json().contains("mrr_at_4"));
  metrics.include_first_hits();
  EXPECT_DOUBLE_EQ(metrics.to_json()["mrr_at_4"].get<double>(), 0.375);
  std::vector<Metrics::Ratio> ratios;
  metrics.append_ratios(ratios);
  ASSERT_EQ(ratios.size(), metrics.names().size());
  EXPECT_EQ(metrics.names().back(), "mrr_at_4");
  EXPECT_DOUBLE_EQ(ratios.back().value(), 0.375);
  Metrics twice = metrics;
  twice.merge(metrics);
  EXPECT_DOUBLE_EQ(twice.mrr(4), 0.375);
  EXPECT_DOUBLE_EQ(twice.hit_rate(2), 0.5);
}

// 60 pairs: label 2 has 30, labels 0 and 4 have 10 each, 1 has 6, 5 has 4, 3 none.
const Labels kFrequencies = {10, 6, 30, 0, 10, 4};

TEST(LabelGroups, SplitTheTrainingLabelsInThirds) {
  const LabelGroups groups(kFrequencies);
  EXPECT_EQ(groups.of(2), LabelGroup::kHead);    // begins at 0 of 60
  EXPECT_EQ(groups.of(0), LabelGroup::kMiddle);  // both begin at 30, having equal frequencies
  EXPECT_EQ(groups.of(4), LabelGroup::kMiddle);
  EXPECT_EQ(groups.of(1), LabelGroup::kTail);  // at 50
  EXPECT_EQ(groups.of(5), LabelGroup::kTail);
  EXPECT_EQ(groups.of(3), LabelGroup::kTail);
  EXPECT_EQ(groups.of(99), LabelGroup::kTail);
  EXPECT_EQ(groups.part(LabelGroup::kHead).labels, 1U);
  EXPECT_EQ(groups.part(LabelGroup::kMiddle).labels, 2U);
  EXPECT_EQ(groups.part(LabelGroup::kMiddle).min_samples, 10U);
  EXPECT_EQ(groups.part(LabelGroup::kTail).labels, 3U);
  EXPECT_EQ(groups.part(LabelGroup::kTail).max_samples, 6U);
  EXPECT_EQ(groups.part(LabelGroup::kTail).min_samples, 0U);
}

TEST(LabelGroups, NoLabelsAndEqualLabels) {
  EXPECT_EQ(LabelGroups({}).of(0), LabelGroup::kTail);
  const LabelGroups equal(Labels{5, 5, 5});
  EXPECT_EQ(equal.part(LabelGroup::kHead).labels, 3U);
  EXPECT_EQ(equal.part(LabelGroup::kTail).labels, 0U);
}

TEST(LabelGroups, MeasuresByHandWholeAndMerged) {
  const auto groups = std::make_shared<const LabelGroups>(kFrequencies);
  Metrics whole({1, 3}, nullptr, groups), one({1, 3}, nullptr, groups), two({1, 3}, nullptr, groups);
  const auto add = [&](Metrics& part, const Labels& predicted, const Labels& labels) {
    part.add(predicted, labels);
    whole.add(predicted, labels);
  };
  add(one, {2, 0, 1}, {0, 2, 5});  // hits: head at 1, middle at 2
  add(two, {4, 1, 2}, {1, 2});     // hits: tail at 2, head at 3
  add(two, {3}, {});
  one.merge(two);
  for (const Metrics* metrics : {&whole, &one}) {
    EXPECT_EQ(metrics->positives(LabelGroup::kHead), 2U);
    EXPECT_EQ(metrics->positives(LabelGroup::kMiddle), 1U);
    EXPECT_EQ(metrics->positives(LabelGroup::kTail), 2U);
    EXPECT_DOUBLE_EQ(metrics->recall(1, LabelGroup::kHead), 0.5);
    EXPECT_DOUBLE_EQ(metrics->recall(3, LabelGroup::kHead), 1.0);
    EXPECT_DOUBLE_EQ(metrics->recall(3, LabelGroup::kTail), 0.5);
    EXPECT_DOUBLE_EQ(metrics->recall(1, LabelGroup::kMiddle), 0.0);
    double sum = 0.0;
    for (const LabelGroup group : kLabelGroups) sum += metrics->precision(3, group);
    EXPECT_DOUBLE_EQ(sum, metrics->precision(3));
    EXPECT_DOUBLE_EQ(metrics->precision(3, LabelGroup::kHead), 2.0 / 9);
  }
  EXPECT_THROW(one.merge(Metrics({1, 3})), Error);
}

TEST(Metrics, OneSampleByHand) {
  Metrics metrics({1, 3, 5});
  // Hits at ranks 1 and 3 of five; three true labels.
  metrics.add(Labels{4, 9, 2, 7, 8}, Labels{2, 4, 6});
  EXPECT_DOUBLE_EQ(metrics.precision(1), 1.0);
  EXPECT_DOUBLE_EQ(metrics.precision(3), 2.0 / 3);
  EXPECT_DOUBLE_EQ(metrics.precision(5), 2.0 / 5);
  EXPECT_DOUBLE_EQ(metrics.recall(1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(metrics.recall(5), 2.0 / 3);
  // DCG = 1 + 1/log2(4) = 1.5; ideal at 3 and 5: 1 + 1/log2(3) + 1/2 = 2.1309297535714575.
  EXPECT_DOUBLE_EQ(metrics.ndcg(1), 1.0);
  EXPECT_NEAR(metrics.ndcg(3), 1.5 / 2.1309297535714575, 1e-15);
  EXPECT_NEAR(metrics.ndcg(5), 1.5 / 2.1309297535714575, 1e-15);
}

TEST(Metrics, FewerLabelsThanKStillReachFullNdcg) {
  Metrics metrics({5});
  metrics.add(Labels{3, 1, 0, 2, 4}, Labels{1, 3});
  EXPECT_DOUBLE_EQ(metrics.ndcg(5), 1.0);
  EXPECT_DOUBLE_EQ(metrics.precision(5), 0.4);
  EXPECT_DOUBLE_EQ(metrics.recall(5), 1.0);
}

TEST(Metrics, SamplesWithoutLabelsCountAsZero) {
  Metrics metrics({1});
  metrics.add(Labels{3}, Labels{3});
  metrics.add(Labels{3}, Labels{});
  EXPECT_EQ(metrics.samples(), 2u);
  EXPECT_DOUBLE_EQ(metrics.precision(1), 0.5);
  EXPECT_DOUBLE_EQ(metrics.ndcg(1), 0.5);
  EXPECT_DOUBLE_EQ(metrics.recall(1), 0.5);
}

TEST(Metrics, FewerPredictionsThanK) {
  Metrics metrics({5});
  metrics.add(Labels{3}, Labels{1, 3});
  metrics.add(Labels{}, Labels{1, 3});
  EXPECT_DOUBLE_EQ(metrics.precision(5), 0.1);
  EXPECT_DOUBLE_EQ(metrics.recall(5), 0.25);
}

TEST(Metrics, PropensityScoredPrecisionIsNormalisedOverTheSet) {
  Metrics metrics({1, 2}, weights({1, 2, 4, 8}));
  // Sample 1, labels 0 and 3: hit at rank 2 of weight 8; best at 1: 8, at 2: 9.
  metrics.add(Labels{1, 3}, Labels{0, 3});
  // Sample 2, labels 1 and 2: hits of weights 2 and 4; best at 1: 4, at 2: 6.
  metrics.add(Labels{1, 2}, Labels{1, 2});
  EXPECT_DOUBLE_EQ(metrics.psp(1), (0.0 + 2.0) / (8.0 + 4.0));
  EXPECT_DOUBLE_EQ(metrics.psp(2), (8.0 + 6.0) / (9.0 + 6.0));
}

TEST(Metrics, PerfectRankingByWeightHasFullPsp) {
  Metrics metrics({1, 3}, weights({1, 2, 4, 8}));
  metrics.add(Labels{3, 2, 0, 1}, Labels{0, 2, 3});
  metrics.add(Labels{1, 2, 0}, Labels{1});
  EXPECT_DOUBLE_EQ(metrics.psp(1), 1.0);
  EXPECT_DOUBLE_EQ(metrics.psp(3), 1.0);
}

TEST(Metrics, LabelsBeyondThePropensitiesWeighOne) {
  Metrics metrics({1}, weights({4}));
  metrics.add(Labels{9}, Labels{0, 9});
  EXPECT_DOUBLE_EQ(metrics.psp(1), 1.0 / 4.0);
}

TEST(Metrics, EmptyPropensitiesMeanNoPsp) {
  const Metrics metrics({1}, weights({}));
  EXPECT_FALSE(metrics.has_psp());
  EXPECT_FALSE(metrics.to_json().contains("psp_at_1"));
}

TEST(Metrics, MergedPartsEqualTheWhole) {
  const auto propensities = weights({1, 2, 4, 8});
  Metrics whole({1, 3}, propensities);
  Metrics first({1, 3}, propensities);
  Metrics second({1, 3}, propensities);
  for (auto* metrics : {&whole, &first}) metrics->add(Labels{1, 3, 0}, Labels{0, 3});
  for (auto* metrics : {&whole, &second}) metrics->add(Labels{0, 3, 2}, Labels{1, 2, 3});
  first.merge(second);
  EXPECT_EQ(first.samples(), 2u);
  EXPECT_EQ(first.to_json(), whole.to_json());
  EXPECT_THROW(first.merge(Metrics({1}, propensities)), Error);
  EXPECT_THROW(first.merge(Metrics({1, 3})), Error);
}

TEST(Metrics, JsonNamesEveryMeasure) {
  Metrics metrics({1, 5}, weights({2, 2}));
  metrics.add(Labels{0}, Labels{0, 1});
  EXPECT_EQ(
      metrics.to_json().dump(),
      R"({"p_at_1":1.0,"p_at_5":0.2,"ndcg_at_1":1.0,"ndcg_at_5":0.6131471927654584,)"
      R"("psp_at_1":1.0,"psp_at_5":0.5,"psndcg_at_1":1.0,"psndcg_at_5":0.6131471927654584,"recall_at_1":0.5,"recall_at_5":0.5})");
}

TEST(Metrics, WrongK) {
  EXPECT_THROW(Metrics({0}), Error);
  EXPECT_THROW(Metrics({1}).precision(2), Error);
}

TEST(InversePropensities, ByHand) {
  // a = 0.55, b = 1.5, N = 1000: C = (ln 1000 - 1) 2.5^0.55 = 5.907755278982137 * 1.655235...
  const double c = (std::log(1000.0) - 1) * std::pow(2.5, 0.55);
  EXPECT_NEAR(c, 9.779, 1e-2);
  const Labels frequencies = {0, 1, 998};
  const InversePropensities inverse(frequencies, 1000, 0.55, 1.5);
  ASSERT_EQ(inverse.size(), 3u);
  EXPECT_NEAR(inverse[0], 1 + c / std::pow(1.5, 0.55), 1e-12);
  EXPECT_NEAR(inverse[1], std::log(1000.0), 1e-12) << "N_l = 1: (N_l + B) cancels (B + 1), leaving log N";
  EXPECT_NEAR(inverse[2], 1 + c / std::pow(999.5, 0.55), 1e-12);
}

// A label that training lacks, of data without a header, weighs as one whose frequency is 0.
TEST(InversePropensities, BeyondTheLabelsOfTrainingIsFrequencyZero) {
  const Labels frequencies = {4, 1, 998};
  const auto inverse = std::make_shared<const InversePropensities>(frequencies, 1000, 0.55, 1.5);
  const double c = (std::log(1000.0) - 1) * std::pow(2.5, 0.55), unseen = 1 + c / std::pow(1.5, 0.55);
  EXPECT_NEAR((*inverse)[3], unseen, 1e-12);
  EXPECT_NEAR((*inverse)[1000000], unseen, 1e-12);
  Metrics metrics({1}, inverse);
  metrics.add(Labels{0}, Labels{0, 7});
  EXPECT_NEAR(metrics.psp(1), (*inverse)[0] / unseen, 1e-12);
}

TEST(InversePropensities, TinySetsAndBadParameters) {
  const Labels frequencies = {0, 5};
  const InversePropensities two_samples(frequencies, 2, 0.55, 1.5), none(frequencies, 0, 0.55, 1.5);
  for (const InversePropensities* inverse : {&two_samples, &none}) {
    ASSERT_EQ(inverse->size(), 2u);
    EXPECT_EQ((*inverse)[0], 1.0);
    EXPECT_EQ((*inverse)[1], 1.0);
  }
  EXPECT_THROW(InversePropensities(frequencies, 10, 0.55, 0), InputError);
  EXPECT_THROW(InversePropensities(frequencies, 10, -1, 1.5), InputError);
  EXPECT_EQ(InversePropensities(Labels{}, 10, 0.55, 1.5).size(), 0u);
}

}  // namespace
}  // namespace slide

// Tests of metrics of scores: rankings, label counts, F1, and uncertainty.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/inference/curve.h"
#include "engine/inference/decisions.h"
#include "engine/inference/label_counts.h"
#include "engine/inference/ranking.h"
#include "engine/inference/reliability.h"
#include "engine/inference/resampling.h"

namespace slide {
namespace {

using Labels = std::vector<std::uint32_t>;
using Row = std::vector<std::pair<std::uint32_t, float>>;

Dataset scores_of(const std::vector<Row>& rows, std::uint32_t labels = 10) {
  DatasetArrays arrays;
  for (const Row& row : rows) {
    for (const auto& [label, score] : row) {
      arrays.feature_ids.push_back(label);
      arrays.feature_values.push_back(score);
    }
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(0);
  }
  return {std::move(arrays), labels, labels};
}

Dataset truth_of(const std::vector<Labels>& rows, std::uint32_t labels = 10) {
  DatasetArrays arrays;
  for (const Labels& row : rows) {
    arrays.label_ids.insert(arrays.label_ids.end(), row.begin(), row.end());
    arrays.label_offsets.push_back(arrays.label_ids.size());
    arrays.feature_offsets.push_back(0);
  }
  return {std::move(arrays), 0, labels};
}

Labels ranks(const Ranking& ranking, std::size_t sample) {
  return {ranking[sample].begin(), ranking[sample].end()};
}

TEST(Ranking, OrdersByScoreThenLabelWhateverTheThreads) {
  const Dataset scores = scores_of({{{1, 0.5F}, {2, 0.9F}, {7, 0.5F}, {8, -1.0F}}, {}, {{3, 0.0F}}});
  for (const int threads : {1, 4}) {
    const Ranking ranking = ranked(scores, 3, threads);
    EXPECT_EQ(ranks(ranking, 0), (Labels{2, 1, 7}));
    EXPECT_EQ(ranks(ranking, 1), (Labels{}));
    EXPECT_EQ(ranks(ranking, 2), (Labels{3}));
  }
}

TEST(Ranking, LeavesPairsOut) {
  const LabelPairs pairs({{0, 2}, {0, 3}, {1, 1}}, 2);
  const Dataset scores = scores_without(scores_of({{{1, 0.5F}, {2, 0.9F}}, {{2, 0.1F}}}), pairs);
  EXPECT_EQ(ranks(ranked(scores, 3, 1), 0), (Labels{1}));
  EXPECT_EQ(ranks(ranked(scores, 3, 1), 1), (Labels{2}));
  Ranking ranking(1, 2);
  ranking.add(0, std::vector<Prediction>{{3, 4.0F}, {5, 3.0F}, {2, 2.0F}, {4, 1.0F}, {6, 0.0F}}, pairs);
  EXPECT_EQ(ranks(ranking, 0), (Labels{5, 4}));
}

TEST(Ranking, SumsFilesOverTheUnionOfTheirLabels) {
  const std::vector<Dataset> files = {scores_of({{{1, 1.0F}, {4, 2.0F}}, {}}, 5),
                                      scores_of({{{1, 3.0F}, {6, 1.0F}}, {{0, 2.0F}}}, 7)};
  const std::vector<double> weights = {0.25, 0.75};
  const Dataset sum = weighted_sum(files, weights);
  EXPECT_EQ(sum.feature_count(), 7U);
  EXPECT_EQ(Labels(sum.features(0).ids.begin(), sum.features(0).ids.end()), (Labels{1, 4, 6}));
  EXPECT_FLOAT_EQ(sum.features(0).values[0], 2.5F);
  EXPECT_FLOAT_EQ(sum.features(0).values[1], 0.5F);
  EXPECT_FLOAT_EQ(sum.features(1).values[0], 1.5F);
  const std::vector<double> huge = {1e308, 1e308};
  EXPECT_THROW(weighted_sum(files, huge), InputError);
  const std::vector<Dataset> uneven = {files[0], scores_of({{}})};
  EXPECT_THROW(weighted_sum(uneven, weights), Error);
}

TEST(PsNdcg, IsThatOfTheDefinition) {
  const auto weights = std::make_shared<const InversePropensities>(std::vector<double>{1, 2, 4, 8});
  Metrics metrics({2}, weights);
  metrics.add(Labels{1, 3}, Labels{0, 1, 2});
  metrics.add(Labels{0, 3}, Labels{3});
  const double second = 1 / std::log2(3.0);
  const double found = 2 / (1 + second) + 8 * second;
  const double best = (4 + 2 * second) / (1 + second) + 8;
  EXPECT_NEAR(metrics.psndcg(2), found / best, 1e-12);
  std::vector<Metrics::Ratio> ratios;
  metrics.append_ratios(ratios);
  const auto json = metrics.to_json();
  ASSERT_EQ(ratios.size(), json.size());
  ASSERT_EQ(metrics.names().size(), json.size());
  for (std::size_t m = 0; m < ratios.size(); ++m)
    EXPECT_NEAR(ratios[m].value(), json[metrics.names()[m]].get<double>(), 1e-12) << metrics.names()[m];
}

TEST(LabelCounts, CountWhatBecameOfEachLabel) {
  const Dataset truth = truth_of({{0, 1}, {1}, {2}});
  const Ranking ranking =
      ranked(scores_of({{{1, 2.0F}, {5, 1.0F}}, {{0, 2.0F}, {1, 1.0F}}, {{5, 1.0F}}}), 2, 1);
  const LabelCounts counts(ranking, truth, {1, 2}, 8);
  EXPECT_EQ(counts.labels_with_samples(), 3U);
  EXPECT_EQ(counts.positives(1), 2U);
  EXPECT_EQ(counts.predicted(1, 0).all, 1U);
  EXPECT_EQ(counts.predicted(1, 1).all, 2U);
  EXPECT_EQ(counts.predicted(1, 1).hits, 2U);
  EXPECT_EQ(counts.predicted(5, 0).all, 1U);
  EXPECT_EQ(counts.predicted(5, 1).all, 2U);
  EXPECT_EQ(counts.predicted(5, 1).hits, 0U);
  EXPECT_DOUBLE_EQ(counts.coverage(0), 1.0 / 3);
  EXPECT_DOUBLE_EQ(counts.catalogue(0), 3.0 / 8);
  const std::vector<std::uint32_t> frequencies = {4, 2, 1, 1, 1, 0};
  EXPECT_DOUBLE_EQ(counts.novelty(0, {frequencies, 8}), (2.0 + 1.0 + 3.0) / 3);  // labels 1, 0, 5
  const LabelCounts few(ranking, truth, {1}, 1);                                 // labels beyond are ignored
  EXPECT_EQ(few.labels_with_samples(), 1U);
}

TEST(Decisions, OfPairsLabelsAndSamples) {
  const Dataset truth = truth_of({{0, 1}, {1}, {}});
  const Dataset scores = scores_of({{{0, 0.9F}, {2, 0.5F}}, {{1, 0.4F}}, {}});
  const Decisions at = decide(scores, truth, Thresholds(0.5));
  EXPECT_DOUBLE_EQ(at.micro.precision, 1.0 / 2);
  EXPECT_DOUBLE_EQ(at.micro.recall, 1.0 / 3);
  EXPECT_DOUBLE_EQ(at.micro.f1, 2.0 / 5);
  EXPECT_DOUBLE_EQ(at.macro.precision, 1.0 / 3);  // 1, 0, 0 for labels 0, 1, 2
  EXPECT_DOUBLE_EQ(at.macro.f1, 1.0 / 3);
  EXPECT_DOUBLE_EQ(at.samples.precision, 0.5 / 3);
  EXPECT_DOUBLE_EQ(at.samples.recall, 0.5 / 3);
  EXPECT_DOUBLE_EQ(at.samples.f1, 0.5 / 3);
  EXPECT_EQ(at.labels[1].positives, 2U);
  const Decisions own = decide(scores, truth, Thresholds(0.5, {{1, 0.4}, {2, 0.6}}));
  EXPECT_DOUBLE_EQ(own.micro.f1, 4.0 / 5);
  EXPECT_EQ(own.labels[1].hits, 1U);
  EXPECT_EQ(own.labels[2].predicted, 0U);
}

TEST(Decisions, OfTheBestAgreeWithTheirCountsByLabel) {
  const Dataset truth = truth_of({{0, 1}, {1}, {2}});
  const Ranking ranking =
      ranked(scores_of({{{1, 2.0F}, {5, 1.0F}}, {{0, 2.0F}, {1, 1.0F}}, {{5, 1.0F}}}), 2, 1);
  const Decisions best = decide_best(ranking, truth, 2, 6);
  EXPECT_DOUBLE_EQ(best.micro.precision, 2.0 / 5);
  EXPECT_DOUBLE_EQ(best.micro.recall, 2.0 / 4);
  EXPECT_DOUBLE_EQ(best.samples.precision, (0.5 + 0.5 + 0) / 3);
  EXPECT_EQ(best.labels[5].predicted, 2U);
  EXPECT_DOUBLE_EQ(decide_best(ranking, truth, 1, 6).micro.precision, 1.0 / 3);
}

// By hand: falling scores .9 hit, .8, .7 hit, .7 hit, .1 of four true labels.
TEST(Curve, HasAPointForEachScoreAndTheBestThresholds) {
  const Dataset truth = truth_of({{0, 1}, {1}, {2}});
  const Dataset scores = scores_of({{{0, 0.9F}, {1, 0.7F}}, {{0, 0.8F}, {1, 0.7F}}, {{1, 0.1F}}});
  const std::vector<CurvePoint> curve = precision_recall_curve(scores, truth);
  ASSERT_EQ(curve.size(), 4U);
  EXPECT_EQ(curve[2].threshold, 0.7F);
  EXPECT_EQ(curve[2].counts.predicted, 4U);
  EXPECT_EQ(curve[2].counts.hits, 3U);
  EXPECT_EQ(best_threshold(scores, truth).threshold, 0.4F) << "halfway to the next score";
  EXPECT_DOUBLE_EQ(best_threshold(scores, truth).rates.f1, 6.0 / 8);
  EXPECT_DOUBLE_EQ(decide(scores, truth, Thresholds(0.4)).micro.f1, 6.0 / 8);
  EXPECT_EQ(best_threshold(scores, truth, {0.75, 0}).threshold, 0.4F);
  EXPECT_EQ(best_threshold(scores, truth, {0.8, 0}).threshold, 0.85F);
  const Dataset wrong = scores_of({{{2, 0.5F}}, {}, {}});  // no score reaches the precision: nothing is given
  EXPECT_GT(best_threshold(wrong, truth, {0.8, 0}).threshold, 0.5F);
  EXPECT_EQ(best_threshold(scores_of({{}, {}, {}}), truth).threshold, std::numeric_limits<float>::infinity());
  const Thresholds all = best_thresholds(scores, truth, {{}, 2});
  EXPECT_EQ(all.all(), 0.4);  // the decimal, not its nearest float
  EXPECT_EQ(all.own(), (std::vector<LabelThreshold>{{1, 0.4}}));
  EXPECT_EQ(best_thresholds(scores, truth, {{}, 1}).own().front(), (LabelThreshold{0, 0.85}));
  EXPECT_TRUE(best_thresholds(scores, truth, {{}, 3}).own().empty());
}

// A score and the next lower one; the threshold keeps the first and leaves out the second, as floats and as
// they are written with six digits.
TEST(Curve, TheBestThresholdPartsTheScores) {
  const Dataset truth = truth_of({{0}});
  const auto found = [&](float score, float lower) {
    return decimal_of(best_threshold(scores_of({{{0, score}, {1, lower}}}), truth).threshold);
  };
  EXPECT_EQ(found(0.7F, 0.2F), 0.45);
  EXPECT_EQ(found(0.123456F, 0.123452F), 0.123454) << "six digits";
  EXPECT_EQ(found(0.123456F, 0.123455F), 0.123456) << "nothing lies between but more digits";
  EXPECT_EQ(found(0.1234562F, 0.12345598F), decimal_of(0.1234562F)) << "both are written as one number";
  EXPECT_EQ(found(-1, -2), -1.5);
  EXPECT_EQ(found(1, -1), 0);
  EXPECT_EQ(decimal_of(best_threshold(scores_of({{{0, 0.5F}}}), truth).threshold), 0.25) << "half of it";
  EXPECT_EQ(decimal_of(best_threshold(scores_of({{{0, -2.0F}}}), truth).threshold), -3);
}

TEST(Reliability, ComparesScoresWithSharesOfTrueLabels) {
  const Dataset truth = truth_of({{0}, {1}, {}});
  const Dataset scores = scores_of({{{0, 1.0F}, {1, 0.5F}}, {{0, 0.5F}}, {{0, 0.25F}}});
  const std::optional<Reliability> all = reliability(scores, truth);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->bins[7].predictions, 2U);
  EXPECT_DOUBLE_EQ(all->bins[7].mean_score(), 0.5);
  EXPECT_DOUBLE_EQ(all->bins[14].true_share(), 1.0);
  EXPECT_DOUBLE_EQ(all->error(), (1.0 + 0.25) / 4);
  const std::optional<Reliability> top = top_reliability(scores, ranked(scores, 1, 1), truth);
  ASSERT_TRUE(top);
  EXPECT_DOUBLE_EQ(top->error(), (0.5 + 0.25) / 3);
  EXPECT_FALSE(reliability(scores_of({{{0, 1.5F}}, {}, {}}), truth));
  EXPECT_FALSE(reliability(scores_of({{}, {}, {}}), truth));
}

// Of 40 samples, the first predictor is right in the first 30, the second in every other one.
struct Two {
  Dataset truth;
  SampleRatios first, second;
};
Two two_predictors() {
  std::vector<Labels> labels(40, Labels{1});
  std::vector<Row> one, two;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    one.push_back({{i < 30 ? 1U : 2U, 1.0F}});
    two.push_back({{i % 2 == 0 ? 1U : 2U, 1.0F}});
  }
  Two result{truth_of(labels), {}, {}};
  result.first = sample_ratios(ranked(scores_of(one), 1, 1), result.truth, Metrics({1}), 1);
  result.second = sample_ratios(ranked(scores_of(two), 1, 1), result.truth, Metrics({1}), 1);
  add_f1(result.first, scores_of(one), result.truth, Thresholds(0.5));
  return result;
}

TEST(Resampling, IntervalsHoldTheMeasureAndDependOnTheSeedAlone) {
  const Two two = two_predictors();
  ASSERT_EQ(two.first.names,
            (std::vector<std::string>{"p_at_1", "ndcg_at_1", "recall_at_1", "f1_micro", "f1_samples"}));
  const std::vector<Interval> one = bootstrap(two.first, {2000, 1, 1});
  const std::vector<Interval> same = bootstrap(two.first, {2000, 1, 4});
  const std::vector<Interval> other = bootstrap(two.first, {50, 2, 1});
  const double spread = 1.96 * std::sqrt(0.75 * 0.25 / 40);
  EXPECT_NEAR(one[0].low, 0.75 - spread, 0.03);
  EXPECT_NEAR(one[0].high, 0.75 + spread, 0.03);
  EXPECT_NEAR(one[3].low, one[0].low, 1e-12);  // one label and one prediction per sample
  EXPECT_EQ(one[0].low, same[0].low);
  EXPECT_EQ(one[4].high, same[4].high);
  EXPECT_TRUE(other[0].low != one[0].low || other[0].high != one[0].high);
}

TEST(Resampling, ComparesInPairs) {
  Two two = two_predictors();
  add_f1(two.second, scores_of(std::vector<Row>(40)), two.truth, Thresholds(0.5));
  const std::vector<Difference> differences = compare(two.first, two.second, {4000, 3, 2});
  EXPECT_NEAR(differences[0].value, 0.25, 1e-12);
  EXPECT_LT(differences[0].interval.low, 0.25);
  EXPECT_GT(differences[0].interval.high, 0.25);
  // 15 samples for the first and 5 for the second: twice the probability of at least 15 heads in 20 coin
  // flips.
  EXPECT_NEAR(differences[0].p, 0.0414, 0.012);
  const std::vector<Difference> none = compare(two.first, two.first, {100, 3, 1});
  EXPECT_EQ(none[0].value, 0);
  EXPECT_EQ(none[0].p, 1);
  two.second.names.back() = "another";
  EXPECT_THROW(compare(two.first, two.second, {10, 1, 1}), Error);
}

TEST(Resampling, OfNoSamples) {
  const Dataset none = truth_of({});
  const SampleRatios ratios = sample_ratios(Ranking(0, 1), none, Metrics({1}), 1);
  EXPECT_EQ(bootstrap(ratios, {10, 1, 1})[0].high, 0);
  EXPECT_EQ(compare(ratios, ratios, {10, 1, 1})[0].p, 1);
}

}  // namespace
}  // namespace slide

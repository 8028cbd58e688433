// Tests of feature crosses: the choice against a naive one, and rows with crosses against the formula.
#include "engine/crosses/feature_crosses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

using Pairs = std::vector<FeatureCross>;

Pairs pairs_of(const FeatureCrosses& crosses) {
  return {crosses.crosses().begin(), crosses.crosses().end()};
}

// Features that co-occur more or less often, with labels for some of the co-occurring ones.
Dataset data_of_groups(std::uint32_t seed, std::uint32_t samples, std::uint32_t features,
                       std::uint32_t labels, std::size_t entries) {
  Rng rng(seed, Purpose::kTest, 41);
  DatasetArrays arrays;
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::set<std::uint32_t> ids, own;
    while (ids.size() < entries) ids.insert(rng.below(features) * rng.below(features) / features);
    for (const std::uint32_t a : ids) {
      for (const std::uint32_t b : ids) {
        if (a < b && (a * 7 + b * 3) % (entries < 40 ? 11 : 397) == 0) own.insert((a + b) % labels);
      }
    }
    if (i % 3 == 0) own.insert(rng.below(labels));
    std::vector<float> values;
    for (std::size_t k = 0; k < ids.size(); ++k) {
      const float value = float(0.1 + rng.uniform());
      values.push_back(k % 7 == 6 ? 0.0f : k % 3 == 0 ? -value : value);
    }
    add_sample(arrays, ids, values, own);
  }
  return {std::move(arrays), features, labels};
}

// Indices of the entries that form crosses, by definition.
std::vector<std::uint32_t> naive_paired(const SparseRow& row) {
  std::vector<std::pair<float, std::uint32_t>> entries;
  for (std::size_t k = 0; k < row.ids.size(); ++k) {
    if (row.values[k] != 0) entries.emplace_back(-std::fabs(row.values[k]), row.ids[k]);
  }
  std::sort(entries.begin(), entries.end());
  entries.resize(std::min(entries.size(), kCrossedFeatures));
  std::vector<std::uint32_t> ids;
  for (const auto& entry : entries) ids.push_back(entry.second);
  std::sort(ids.begin(), ids.end());
  return ids;
}

template <class F>
void for_each_pair(const std::vector<std::uint32_t>& ids, F&& visit) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t j = i + 1; j < ids.size(); ++j) visit(FeatureCross{ids[i], ids[j]});
  }
}

// By definition, in double precision.
Pairs naive_choice(const Dataset& data, std::size_t per_label) {
  std::map<FeatureCross, double> with_pair;
  std::map<std::uint32_t, double> with;
  for (std::size_t i = 0; i < data.samples(); ++i) {
    const SparseRow row = data.features(i);
    for (std::size_t k = 0; k < row.ids.size(); ++k) with[row.ids[k]] += row.values[k] != 0 ? 1 : 0;
    for_each_pair(naive_paired(row), [&](FeatureCross pair) { with_pair[pair] += 1; });
  }
  std::set<FeatureCross> chosen;
  for (std::uint32_t label = 0; label < data.label_count(); ++label) {
    std::map<FeatureCross, double> own_pair;
    std::map<std::uint32_t, double> own;
    for (std::size_t i = 0; i < data.samples(); ++i) {
      if (!std::ranges::count(data.labels(i), label)) continue;
      const SparseRow row = data.features(i);
      for (std::size_t k = 0; k < row.ids.size(); ++k) own[row.ids[k]] += row.values[k] != 0 ? 1 : 0;
      for_each_pair(naive_paired(row), [&](FeatureCross pair) { own_pair[pair] += 1; });
    }
    std::vector<std::pair<float, FeatureCross>> ranked;
    for (const auto& [pair, n] : own_pair) {
      if (n < kMinOfLabel || with_pair[pair] < kMinTogether) continue;
      const auto share = [&](std::uint32_t f) { return std::min(1.0, own[f] / with[f]); };
      const double apart = 1 - (1 - share(pair.first)) * (1 - share(pair.second));
      const double gain = n / (with_pair[pair] + 1) / apart;
      if (gain > 1 + 1e-6) ranked.emplace_back(-static_cast<float>(n * std::log(gain)), pair);
    }
    std::sort(ranked.begin(), ranked.end());
    ranked.resize(std::min(ranked.size(), per_label));
    for (const auto& [score, pair] : ranked) chosen.insert(pair);
  }
  return {chosen.begin(), chosen.end()};
}

TEST(FeatureCrosses, AreThoseThatSayMostOfALabelOnAnyNumberOfThreads) {
  const Dataset sets[] = {data_of_groups(1, 900, 60, 25, 8), data_of_groups(2, 900, 60, 25, 8),
                          data_of_groups(3, 500, 130, 12, 60), data_of_groups(4, 33'000, 60, 25, 4)};
  for (const Dataset& data : sets) {
    for (const std::uint32_t per_label : {2U, 32U}) {
      const Pairs expected = naive_choice(data, per_label);
      EXPECT_GT(expected.size(), 10U);
      for (const int threads : {1, 2, 5}) {
        const FeatureCrosses crosses = FeatureCrosses::choose(data, per_label, threads);
        EXPECT_EQ(pairs_of(crosses), expected) << data.size() << " " << per_label << " " << threads;
        EXPECT_TRUE(FeatureCrosses::are_valid(crosses.crosses(), data.feature_count()));
        EXPECT_EQ(crosses.features(), data.feature_count());
      }
    }
  }
}

// Each feature alone occurs equally often with label 0 and label 1.
Dataset both_or_neither(std::uint32_t repeats) {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < repeats; ++i) {
    samples.push_back({{{0, 0.5f}, {1, 0.5f}, {2, 0.5f}}, {0}});
    samples.push_back({{{0, 0.5f}, {2, 0.5f}}, {1}});
    samples.push_back({{{1, 0.5f}, {2, 0.5f}}, {1}});
    samples.push_back({{{2, 0.5f}}, {0}});
  }
  return dataset_of(samples, 4, 2);
}

TEST(FeatureCrosses, AreFoundWhereSingleFeaturesSayNothing) {
  const Pairs both = {{0, 1}};
  EXPECT_EQ(pairs_of(FeatureCrosses::choose(both_or_neither(20), 1, 1)), both);
  EXPECT_FALSE(FeatureCrosses::choose(both_or_neither(20), 0, 1).active());
  EXPECT_FALSE(FeatureCrosses::choose(both_or_neither(4), 8, 1).active());  // too few samples
  EXPECT_FALSE(FeatureCrosses::choose({DatasetArrays(), 4, 2}, 8, 2).active());
}

// A label with very many samples is evaluated on some of them.
TEST(FeatureCrosses, OfALabelWithManySamplesAreThoseOfAnEvenPart) {
  constexpr std::uint32_t repeats = 13000;  // every 6.3th of 26000: equally many of both kinds
  static_assert(6 * kCrossSamples < 2 * repeats);
  EXPECT_EQ(pairs_of(FeatureCrosses::choose(both_or_neither(repeats), 1, 2)), (Pairs{{0, 1}}));
}

TEST(FeatureCrosses, ComeOfSparseFeaturesOfSamplesAlone) {
  const Dataset data = both_or_neither(20);
  const FeatureCrosses beside = FeatureCrosses::choose(with_last_dense(data, 1), 8, 1);
  EXPECT_EQ(pairs_of(beside), pairs_of(FeatureCrosses::choose(data, 8, 1)));
  EXPECT_EQ(beside.features(), 4U);  // with the dense one, which is in none
  EXPECT_FALSE(FeatureCrosses::choose(with_last_dense(data, 3), 8, 1).active());
  const Dataset texts = data.with_label_texts(data.size() - 16);  // four of each kind are samples
  EXPECT_FALSE(FeatureCrosses::choose(texts, 8, 1).active());
  EXPECT_EQ(pairs_of(FeatureCrosses::choose(data.with_label_texts(40), 8, 1)),
            pairs_of(FeatureCrosses::choose(data.slice(0, 40), 8, 1)));
}

// Every third pair of many features.
FeatureCrosses some_pairs(std::uint32_t features) {
  Pairs crosses;
  for (std::uint32_t a = 0; a < features; ++a) {
    for (std::uint32_t b = a + 1 + a % 3; b < features; b += 3) crosses.push_back({a, b});
  }
  return {crosses, features};
}

// By the formula.
std::map<std::uint32_t, double> naive_row(const FeatureCrosses& crosses, const SparseRow& row) {
  std::map<std::uint32_t, double> all, own;
  for (std::size_t k = 0; k < row.ids.size(); ++k) all[row.ids[k]] = own[row.ids[k]] = row.values[k];
  for_each_pair(naive_paired(row), [&](FeatureCross pair) {
    const auto at = std::lower_bound(crosses.crosses().begin(), crosses.crosses().end(), pair);
    if (at == crosses.crosses().end() || *at != pair) return;
    const auto id =
        static_cast<std::uint32_t>(crosses.features() + std::size_t(at - crosses.crosses().begin()));
    all[id] = kCrossScale * std::sqrt(std::fabs(own[pair.first] * own[pair.second]));
  });
  return all;
}

TEST(FeatureCrosses, RowsGetThemBehindTheirFeatures) {
  for (const std::size_t entries : {1, 5, 40, 90}) {
    const Dataset data = data_of_groups(7, 20, 300, 5, entries);
    const FeatureCrosses crosses = some_pairs(300);
    std::vector<std::uint32_t> ids = {7};
    std::vector<float> values = {1.0f, 2.0f};
    for (std::size_t i = 0; i < data.size(); ++i) {
      const SparseRow row = crosses.crossed(data.features(i), ids, values);
      const auto expected = naive_row(crosses, data.features(i));
      ASSERT_EQ(row.ids.size(), expected.size());
      ASSERT_EQ(row.values.size(), expected.size());
      EXPECT_LE(row.ids.size(), crosses.max_entries(entries));
      EXPECT_TRUE(row.ids.size() > entries || entries < 40);
      std::size_t k = 0;
      for (const auto& [id, value] : expected) {
        EXPECT_EQ(row.ids[k], id);
        EXPECT_NEAR(row.values[k++], value, 1e-6);
      }
    }
    EXPECT_EQ(ids[0], 7U);
    EXPECT_EQ(values[1], 2.0f);
    EXPECT_EQ(ids.size() + 1, values.size());
  }
}

TEST(FeatureCrosses, RowsWithoutOneStayWhereTheyAre) {
  const Dataset data =
      dataset_of({{{{0, 3.0f}, {2, 4.0f}}, {}}, {{{1, 0.0f}, {2, 4.0f}}, {}}, {{}, {}}}, 3, 1);
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
  for (const FeatureCrosses& crosses : {FeatureCrosses(), FeatureCrosses({{0, 1}, {1, 2}}, 3)}) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      const SparseRow row = crosses.crossed(data.features(i), ids, values);
      EXPECT_EQ(row.ids.data(), data.features(i).ids.data());
      EXPECT_EQ(row.values.data(), data.features(i).values.data());
      EXPECT_EQ(row.ids.size(), data.features(i).ids.size());
    }
  }
  EXPECT_TRUE(ids.empty() && values.empty());
  EXPECT_EQ(FeatureCrosses().crossed(data, 2).view().feature_ids.data(), data.view().feature_ids.data());
}

TEST(FeatureCrosses, OfALongRowAreThoseOfItsLargestEntries) {
  DatasetArrays arrays;
  std::set<std::uint32_t> ids;
  std::vector<float> values;
  for (std::uint32_t f = 0; f < 50; ++f) {
    ids.insert(f);
    values.push_back(f < 11 ? 0.1f : f % 2 == 0 ? 1.0f : -1.0f);  // of 0 to 10, which are equal, only 0
  }
  add_sample(arrays, ids, values, {});
  const Dataset data(std::move(arrays), 50, 1);
  Pairs all;
  std::vector<std::uint32_t> every(50);
  std::iota(every.begin(), every.end(), 0u);
  for_each_pair(every, [&](FeatureCross pair) { all.push_back(pair); });
  std::vector<std::uint32_t> row_ids;
  std::vector<float> row_values;
  const SparseRow row = FeatureCrosses(all, 50).crossed(data.features(0), row_ids, row_values);
  ASSERT_EQ(row.ids.size(), 50U + 40 * 39 / 2);
  for (const std::uint32_t id : row.ids.subspan(50)) {
    EXPECT_TRUE(all[id - 50].first == 0 || all[id - 50].first > 10);
    EXPECT_GT(all[id - 50].second, 10U);
  }
  EXPECT_EQ(FeatureCrosses(all, 50).max_entries(50), 50U + 40 * 39 / 2);
  EXPECT_EQ(FeatureCrosses(all, 50).max_entries(0), 0U);
  EXPECT_EQ(FeatureCrosses({{1, 2}}, 50).max_entries(9), 10U);
}

void expect_paired(const FeatureCrosses& crosses, const Dataset& data, int threads) {
  const Dataset all = crosses.crossed(data, threads);
  ASSERT_EQ(all.size(), data.size());
  EXPECT_EQ(all.feature_count(), crosses.features() + crosses.size());
  EXPECT_EQ(all.label_count(), data.label_count());
  EXPECT_EQ(all.label_texts(), data.label_texts());
  EXPECT_EQ(all.keys(), data.keys());
  EXPECT_EQ(all.weights().data(), data.weights().data());
  EXPECT_EQ(all.weights().size(), data.weights().size());
  EXPECT_EQ(all.label_weights().data(), data.label_weights().data());
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::vector<std::uint32_t> ids;
    std::vector<float> values;
    const SparseRow row = crosses.crossed(data.features(i), ids, values);
    EXPECT_TRUE(std::ranges::equal(all.features(i).ids, row.ids));
    EXPECT_TRUE(std::ranges::equal(all.features(i).values, row.values));
    EXPECT_TRUE(std::ranges::equal(all.labels(i), data.labels(i)));
  }
}

TEST(FeatureCrosses, DataSetsGetThemRowByRow) {
  DataSpec spec;
  spec.samples = 700, spec.features = 40, spec.entries = 9, spec.featureless = 50, spec.unlabelled = 9;
  spec.weighted = spec.label_weights = true;
  const auto keys = std::make_shared<SampleKeys>();
  keys->groups.assign(690, 0);
  const Dataset data = make_data(spec).with_label_texts(10).with_keys(keys);
  const FeatureCrosses crosses = some_pairs(40);
  for (const int threads : {1, 2, 3}) {
    expect_paired(crosses, data, threads);
    for (const auto& [first, count] : {std::pair{0, 300}, {311, 389}, {695, 5}, {5, 0}})
      expect_paired(crosses, data.slice(std::size_t(first), std::size_t(count)), threads);
  }
  expect_paired(crosses, Dataset(), 2);
  EXPECT_THROW(crosses.crossed(data.with_counts(41, data.label_count()), 1), Error);
  const Dataset dense = with_last_dense(data, 3), crossed = crosses.crossed(dense, 2);
  expect_paired(crosses, dense, 2);
  ASSERT_EQ(crossed.dense_count(), 3U);
  std::array<float, 3> row{}, expected{};
  for (std::size_t i = 0; i < data.size(); ++i) {
    crossed.dense().copy_row(i, row.data());
    dense.dense().copy_row(i, expected.data());
    EXPECT_EQ(row, expected);
  }
}

TEST(FeatureCrosses, StayTheSameWhereFeaturesComeIn) {
  const FeatureCrosses crosses({{0, 1}, {0, 3}, {2, 3}}, 4);
  const FeatureCrosses more = crosses.grown({{kNewId, 0, 1, kNewId, 2, 3, kNewId}, 4});
  EXPECT_EQ(more.features(), 7U);
  EXPECT_EQ(pairs_of(more), (Pairs{{1, 2}, {1, 5}, {4, 5}}));
  EXPECT_EQ(pairs_of(crosses.grown(IdGrowth::behind(4, 9))), pairs_of(crosses));
  expect_paired(more, dataset_of({{{{1, 1.0f}, {2, 1.0f}, {5, 0.5f}}, {0}}}, 7, 1), 1);
  EXPECT_THROW(crosses.grown({{0, 1, 3}, 4}), Error);
  EXPECT_FALSE(FeatureCrosses().grown(IdGrowth::behind(4, 9)).active());
}

TEST(FeatureCrosses, ThatAreNoneAreRefused) {
  EXPECT_TRUE(FeatureCrosses::are_valid(Pairs{}, 0));
  EXPECT_TRUE(FeatureCrosses::are_valid(Pairs{{0, 1}, {0, 2}, {1, 2}}, 3));
  EXPECT_FALSE(FeatureCrosses::are_valid(Pairs{{0, 1}, {0, 2}, {1, 2}}, 2));
  EXPECT_FALSE(FeatureCrosses::are_valid(Pairs{{0, 2}, {0, 1}}, 3));
  EXPECT_FALSE(FeatureCrosses::are_valid(Pairs{{0, 1}, {0, 1}}, 3));
  EXPECT_FALSE(FeatureCrosses::are_valid(Pairs{{1, 1}}, 3));
  EXPECT_FALSE(FeatureCrosses::are_valid(Pairs{{2, 1}}, 3));
  EXPECT_FALSE(FeatureCrosses::are_valid(Pairs{{0, 1}}, std::size_t{0xffffffff}));  // no id is left
  EXPECT_THROW(FeatureCrosses({{2, 1}}, 3), Error);
}

}  // namespace
}  // namespace slide::test

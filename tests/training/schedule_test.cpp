// Tests of learning rates, rehash intervals, ownership of rows, and grouping of touched rows.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <vector>

#include "engine/loop/schedule.h"
#include "engine/network/feature_shards.h"
#include "engine/network/optimizer.h"
#include "engine/network/row_groups.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

std::vector<std::uint64_t> events(IntervalSchedule schedule, std::uint64_t steps) {
  std::vector<std::uint64_t> at;
  for (std::uint64_t done = 1; done <= steps; ++done) {
    if (schedule.due(done)) at.push_back(done);
  }
  return at;
}

using Steps = std::vector<std::uint64_t>;

TEST(IntervalSchedule, FixedIntervals) {
  EXPECT_EQ(events({5, 1.0}, 22), (Steps{5, 10, 15, 20}));
  EXPECT_EQ(events({1, 1.0}, 4), (Steps{1, 2, 3, 4}));
}

TEST(IntervalSchedule, ZeroIsNever) {
  EXPECT_TRUE(events({0, 1.0}, 1000).empty());
}

TEST(IntervalSchedule, GapsGrowGeometrically) {
  EXPECT_EQ(events({4, 2.0}, 100), (Steps{4, 12, 28, 60}));  // gaps 4, 8, 16, 32
  EXPECT_EQ(events({2, 1.5}, 17), (Steps{2, 5, 10, 17}));  // 2, 5, 9.5, 16.25: the first step not before each
}

TEST(IntervalSchedule, FromNothingTheFirstGapsAreShort) {
  EXPECT_EQ(events({100, 1.0, true}, 400),
            (Steps{8, 24, 56, 120, 220, 320}));  // gaps 8, 16, 32, 64, 100, 100
  EXPECT_EQ(events({5, 2.0, true}, 40), (Steps{5, 15, 35}));
  EXPECT_TRUE(events({0, 1.0, true}, 1000).empty());
}

TEST(IntervalSchedule, StateFollowsFromTheStepsDone) {
  for (const IntervalSchedule& made : {IntervalSchedule(3, 1.0), {2, 1.3}, {0, 1.0}, {20, 1.3, true}}) {
    IntervalSchedule each = made;
    for (std::uint64_t done = 1; done <= 50; ++done) {
      each.due(done);
      IntervalSchedule once = made;
      once.due(done);
      EXPECT_EQ(once, each) << done;
    }
  }
}

TEST(IntervalSchedule, MissedEventsAreOneEvent) {
  IntervalSchedule schedule(5, 1.0);
  EXPECT_FALSE(schedule.due(4));
  EXPECT_TRUE(schedule.due(17));
  EXPECT_FALSE(schedule.due(19));
  EXPECT_TRUE(schedule.due(20));
}

double rate(RateSchedule schedule, std::uint32_t warmup, std::uint64_t step, std::uint64_t total) {
  OptimizerConfig config;
  config.learning_rate = 0.8;
  config.schedule = schedule;
  config.warmup_steps = warmup;
  return Optimizer(config).rate_at(step, total);
}

TEST(LearningRate, Constant) {
  for (const std::uint64_t step : {0, 1, 99, 100, 1000})
    EXPECT_DOUBLE_EQ(rate(RateSchedule::kConstant, 0, step, 100), 0.8);
}

TEST(LearningRate, LinearFallsToZero) {
  EXPECT_DOUBLE_EQ(rate(RateSchedule::kLinear, 0, 0, 100), 0.8);
  EXPECT_DOUBLE_EQ(rate(RateSchedule::kLinear, 0, 25, 100), 0.6);
  EXPECT_NEAR(rate(RateSchedule::kLinear, 0, 99, 100), 0.008, 1e-12);
  EXPECT_DOUBLE_EQ(rate(RateSchedule::kLinear, 0, 100, 100), 0.0);
  EXPECT_DOUBLE_EQ(rate(RateSchedule::kLinear, 0, 250, 100), 0.0);
}

TEST(LearningRate, CosineFallsToZeroByHalfAWave) {
  EXPECT_DOUBLE_EQ(rate(RateSchedule::kCosine, 0, 0, 100), 0.8);
  EXPECT_NEAR(rate(RateSchedule::kCosine, 0, 50, 100), 0.4, 1e-12);
  EXPECT_NEAR(rate(RateSchedule::kCosine, 0, 25, 100), 0.4 * (1.0 + std::numbers::sqrt2 / 2), 1e-12);
  EXPECT_NEAR(rate(RateSchedule::kCosine, 0, 100, 100), 0.0, 1e-12);
}

TEST(LearningRate, WarmUpRisesToTheFullRateAndTheScheduleFollows) {
  for (const RateSchedule schedule :
       {RateSchedule::kConstant, RateSchedule::kLinear, RateSchedule::kCosine}) {
    for (std::uint64_t step = 0; step < 4; ++step) {
      EXPECT_DOUBLE_EQ(rate(schedule, 4, step, 104), 0.8 * double(step + 1) / 4.0);
    }
    EXPECT_DOUBLE_EQ(rate(schedule, 4, 4, 104), 0.8);
  }
  EXPECT_NEAR(rate(RateSchedule::kLinear, 4, 54, 104), 0.4, 1e-12);
  EXPECT_GE(rate(RateSchedule::kLinear, 50, 60, 10), 0.0);  // warm-up longer than the run
}

TEST(Shards, RowsOfACacheLineShareAShardAndAllShardsAreUsed) {
  for (const std::uint32_t shards : {1u, 2u, 3u, 7u, 64u}) {
    std::vector<std::size_t> rows(shards, 0);
    for (std::uint32_t row = 0; row < 100'000; ++row) {
      const std::uint32_t shard = shard_of(row, shards);
      ASSERT_LT(shard, shards);
      ASSERT_EQ(shard, shard_of(row / 16 * 16, shards));
      ++rows[shard];
    }
    for (const std::size_t n : rows) EXPECT_NEAR(double(n), 1e5 / shards, 0.25 * 1e5 / shards) << shards;
  }
}

struct Part {
  std::vector<Contribution> entries;
  RowBins bins;
};

// Random contributions with many common rows.
std::vector<Part> random_parts(std::uint32_t shards) {
  std::vector<Part> parts(5);
  Rng rng(shards, Purpose::kTest);
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    for (std::uint32_t i = 0; i < 200 * (p % 4); ++i) {
      parts[p].entries.push_back({rng.below(400), 1000 * p + i});
    }
    parts[p].bins.reserve(shards, 800);
    parts[p].bins.fill([&](auto&& visit) {
      for (const Contribution& c : parts[p].entries) visit(c.row, c.source);
    });
  }
  return parts;
}

TEST(RowGroups, EveryContributionIsInItsRowInOrderAndInOneShard) {
  using Entries = std::vector<std::uint32_t>;
  std::vector<std::uint64_t> slots(400, 0);
  RowGroups groups;
  std::uint32_t stamp = 0;
  for (const std::uint32_t shards : {1u, 3u, 8u}) {
    for (int round = 0; round < 2; ++round) {  // the second round finds the first one's slots
      ++stamp;
      const std::vector<Part> parts = random_parts(shards);
      std::map<std::uint32_t, Entries> want, got;
      for (const Part& part : parts) {
        for (const Contribution& c : part.entries) want[c.row].push_back(c.source);
      }
      for (std::uint32_t s = 0; s < shards; ++s) {
        std::vector<std::span<const Contribution>> of_shard;
        for (const Part& part : parts) of_shard.push_back(part.bins.shard(s));
        groups.build(of_shard, slots.data(), stamp);
        for (std::size_t g = 0; g < groups.size(); ++g) {
          ASSERT_EQ(shard_of(groups.row(g), shards), s);
          ASSERT_EQ(got.count(groups.row(g)), 0u);
          for (const std::uint32_t source : groups.sources(g)) got[groups.row(g)].push_back(source);
        }
      }
      ASSERT_EQ(got, want) << shards;
    }
  }
}

// Samples of up to 40 features, one in ten without any, with frequencies that decay as in text.
Dataset skewed_data(std::uint32_t features, std::size_t samples) {
  std::vector<Sample> rows(samples);
  Rng rng(7, Purpose::kTest, features);
  std::size_t number = 0;
  for (Sample& row : rows) {
    std::set<std::uint32_t> ids;
    for (std::uint32_t i = number++ % 10 == 3 ? 0 : rng.below(40); i > 0; --i) {
      const auto id = static_cast<std::uint32_t>(double(features) * std::pow(rng.uniform(), 3.0));
      ids.insert(id);
    }
    for (const std::uint32_t id : ids) row.features.emplace_back(id, static_cast<float>(rng.normal()));
    row.labels = {0};
  }
  return dataset_of(rows, features, 1);
}

TEST(FeatureShards, RunsOfWholeCacheLinesThatShareTheWork) {
  const Dataset data = skewed_data(20'000, 3000);
  std::vector<std::size_t> values(20'000);
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (const std::uint32_t id : data.features(i).ids) ++values[id];
  }
  for (const std::uint32_t count : {1u, 2u, 5u, 16u}) {
    const FeatureShards shards(data, {0, data.feature_count()}, {}, 256, count);
    ASSERT_EQ(shards.size(), count);
    std::uint32_t begin = 0;
    for (std::uint32_t s = 0; s < count; ++s) {
      ASSERT_GE(shards.end(s), begin);
      const std::uint32_t end = std::min(shards.end(s), 20'000u);
      ASSERT_TRUE(end % 16 == 0 || s + 1 == count);
      // Rare features are touched individually and cost more each: a shard of them has fewer values.
      const auto held = double(std::accumulate(values.begin() + begin, values.begin() + end, std::size_t{0}));
      EXPECT_GT(held, 0.4 * double(data.feature_entries()) / count) << s << " of " << count;
      EXPECT_LT(held, 2.5 * double(data.feature_entries()) / count) << s << " of " << count;
      begin = end;
    }
    EXPECT_EQ(begin, 20'000u);
  }
}

TEST(FeatureShards, FewFeaturesLeaveShardsEmpty) {
  const FeatureShards shards(skewed_data(20, 100), {0, 20}, {}, 32, 8);
  ASSERT_EQ(shards.size(), 8u);
  for (std::uint32_t s = 0; s < 8; ++s) EXPECT_TRUE(shards.end(s) <= 32 || s == 7);
  EXPECT_EQ(shards.end(7), UINT32_MAX);
}

// Tile by tile, the last one first: any order is allowed.
void fill_all(std::span<const SparseRow> rows, const FeatureShards& shards, ShardedFeatures& block) {
  for (std::size_t slice = slices_of(rows.size(), kSliceSamples); slice-- > 0;)
    block.fill(rows, slice, shards);
}

TEST(ShardedFeatures, EveryValueIsInItsRowInOrderAndInOneShard) {
  using Entries = std::vector<std::pair<std::uint32_t, float>>;
  const Dataset data = skewed_data(300, 100);
  for (const std::uint32_t count : {1u, 3u, 8u, 64u}) {
    const FeatureShards shards(data, {0, data.feature_count()}, {}, 32, count);
    std::vector<ShardedFeatures> bins(4);
    for (ShardedFeatures& block : bins) block.reserve(count, 32, 32 * 40);
    std::map<std::uint32_t, Entries> want, got;
    for (std::uint32_t b = 0; b < bins.size(); ++b) {  // the last block is partial
      std::vector<SparseRow> rows;
      for (std::uint32_t i = b * 32; i < std::min<std::size_t>(data.size(), (b + 1) * 32); ++i) {
        rows.push_back(data.features(i));
        for (std::size_t f = 0; f < rows.back().ids.size(); ++f)
          want[rows.back().ids[f]].emplace_back(i, rows.back().values[f]);
      }
      fill_all(std::vector<SparseRow>(32, data.features(0)), shards, bins[b]);  // of the previous step
      fill_all(rows, shards, bins[b]);
    }
    std::vector<std::uint64_t> slots(300, 0);
    RowGroups groups;
    for (std::uint32_t s = 0; s < count; ++s) {
      std::vector<SamplePart> parts;
      for (std::size_t b = 0; b < bins.size(); ++b)
        bins[b].list(s, std::min<std::size_t>(32, data.size() - b * 32), b * 32, parts);
      groups.build(parts, slots.data(), 1);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        ASSERT_LT(groups.row(g), shards.end(s));
        ASSERT_TRUE(s == 0 || groups.row(g) >= shards.end(s - 1));
        for (std::size_t i = 0; i < groups.sources(g).size(); ++i)
          got[groups.row(g)].emplace_back(groups.sources(g)[i], groups.values(g)[i]);
      }
    }
    ASSERT_EQ(got, want) << count;
  }
}

TEST(RowGroups, NothingToGroup) {
  RowGroups groups;
  groups.build(std::span<const SamplePart>(), nullptr, 1);
  EXPECT_EQ(groups.size(), 0u);
  groups.build(std::span<const std::span<const Contribution>>(), nullptr, 2);
  EXPECT_EQ(groups.size(), 0u);
}

}  // namespace
}  // namespace slide::test

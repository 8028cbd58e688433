// Tests of buckets and tables: FIFO, reservoir, moving neurons, independence of the number of threads.
#include "lsh/hash_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/base/rng.h"

namespace slide::lsh {
namespace {

HashConfig make_config(BucketPolicy policy, std::uint32_t capacity, std::uint32_t k = 2,
                       std::uint32_t tables = 1) {
  HashConfig config;
  config.range_pow = 9;
  config.k = k;
  config.tables = tables;
  config.bucket_capacity = capacity;
  config.bucket_policy = policy;
  return config;
}

std::vector<std::uint32_t> contents(const HashTables& tables, std::size_t table, std::uint32_t print) {
  const auto bucket = tables.bucket(table, print);
  return {bucket.begin(), bucket.end()};
}

std::set<std::uint32_t> as_set(const HashTables& tables, std::size_t table, std::uint32_t print) {
  const auto bucket = tables.bucket(table, print);
  return {bucket.begin(), bucket.end()};
}

using Ids = std::set<std::uint32_t>;

TEST(Fifo, AFullBucketForgetsItsOldest) {
  HashTables tables(make_config(BucketPolicy::kFifo, 5), 100, 1);
  for (std::uint32_t id = 0; id < 13; ++id) tables.insert(0, id, 3);
  EXPECT_EQ(as_set(tables, 0, 3), (Ids{8, 9, 10, 11, 12}));
  EXPECT_TRUE(tables.bucket(0, 2).empty());
  EXPECT_EQ(tables.occupancy().largest_bucket, 13U);
  EXPECT_EQ(tables.occupancy().histogram[3], 1U);  // 4 to 7 entries: 5
  EXPECT_EQ(tables.occupancy().histogram[0], 3U);
}

TEST(Fifo, RemovalKeepsTheOrderOfAge) {
  HashTables tables(make_config(BucketPolicy::kFifo, 4), 100, 1);
  for (std::uint32_t id = 0; id < 7; ++id) tables.insert(0, id, 0);  // 3 4 5 6 stored, in a ring
  tables.remove(0, 5);
  EXPECT_EQ(as_set(tables, 0, 0), (Ids{3, 4, 6}));
  tables.remove(0, 1);  // was evicted already
  tables.insert(0, 20, 0);
  tables.insert(0, 21, 0);
  EXPECT_EQ(as_set(tables, 0, 0), (Ids{4, 6, 20, 21}));
  tables.insert(0, 22, 0);
  EXPECT_EQ(as_set(tables, 0, 0), (Ids{6, 20, 21, 22}));
}

// A long random history of one bucket against a queue: eviction depends on age only, with or without
// removals.
TEST(Fifo, AgreesWithAQueue) {
  HashTables tables(make_config(BucketPolicy::kFifo, 7), 40, 1);
  std::vector<std::uint32_t> queue;
  Ids filed;
  Rng rng(4, Purpose::kTest);
  for (int step = 0; step < 5000; ++step) {
    const std::uint32_t id = rng.below(40);
    if (filed.erase(id) > 0) {
      tables.remove(0, id);
      std::erase(queue, id);
    } else {
      filed.insert(id);
      tables.insert(0, id, 2);
      if (queue.size() == 7) queue.erase(queue.begin());
      queue.push_back(id);
    }
    ASSERT_EQ(as_set(tables, 0, 2), Ids(queue.begin(), queue.end())) << "step " << step;
  }
}

TEST(Fifo, BucketsThatEmptyAreUsedAgain) {
  HashTables tables(make_config(BucketPolicy::kFifo, 64), 64, 1);
  for (int round = 0; round < 50; ++round) {
    const auto print = static_cast<std::uint32_t>(round % 4);
    for (std::uint32_t id = 0; id < 64; ++id) tables.insert(0, id, print);
    EXPECT_EQ(as_set(tables, 0, print).size(), 64U);
    for (std::uint32_t id = 0; id < 64; ++id) tables.remove(0, id);
    EXPECT_TRUE(tables.bucket(0, print).empty());
  }
  EXPECT_LT(tables.bytes(), 4096U);
}

// Pearson's statistic of `hits` against equal expectation.
double chi_square(const std::vector<double>& hits) {
  double sum = 0, statistic = 0;
  for (const double h : hits) sum += h;
  const double expected = sum / double(hits.size());
  for (const double h : hits) statistic += (h - expected) * (h - expected) / expected;
  return statistic;
}

// The 99.9 % quantile of chi-square with 59 degrees is 98.3. For draws without replacement the statistic is
// smaller by (1 - capacity/population), so that the bound is conservative, and far below any relevant bias.
TEST(Reservoir, EveryNeuronIsEquallyLikelyToBeStored) {
  std::vector<double> hits(60);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    HashTables tables(make_config(BucketPolicy::kReservoir, 8), 60, seed);
    for (std::uint32_t id = 0; id < 60; ++id) tables.insert(0, id, 1);
    const Ids stored = as_set(tables, 0, 1);
    ASSERT_EQ(stored.size(), 8U);
    for (const std::uint32_t id : stored) hits[id] += 1;
  }
  EXPECT_LT(chi_square(hits), 98.3);
}

TEST(Reservoir, StaysUniformWhenNeuronsMove) {
  std::vector<double> hits(60);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    HashTables tables(make_config(BucketPolicy::kReservoir, 8), 100, seed);
    for (std::uint32_t id = 0; id < 50; ++id) tables.insert(0, id, 1);
    for (std::uint32_t id = 30; id < 50; ++id) tables.remove(0, id);
    for (std::uint32_t id = 60; id < 90; ++id) tables.insert(0, id, 1);
    for (const std::uint32_t id : as_set(tables, 0, 1)) hits[id < 30 ? id : id - 30] += 1;
  }
  EXPECT_LT(chi_square(hits), 98.3);
}

TEST(Reservoir, FillsUpBeforeItDraws) {
  HashTables tables(make_config(BucketPolicy::kReservoir, 8), 20, 1);
  for (std::uint32_t id = 0; id < 8; ++id) tables.insert(0, id, 1);
  EXPECT_EQ(as_set(tables, 0, 1), (Ids{0, 1, 2, 3, 4, 5, 6, 7}));
  tables.remove(0, 2);
  tables.insert(0, 9, 1);
  EXPECT_EQ(as_set(tables, 0, 1), (Ids{0, 1, 3, 4, 5, 6, 7, 9}));
}

class BothPolicies : public testing::TestWithParam<BucketPolicy> {};

HashTables filled(BucketPolicy policy, std::size_t neurons, int threads) {
  HashTables tables(make_config(policy, 16, 4, 6), neurons, 5);
  Rng rng(1, Purpose::kTest);
  for (std::uint32_t& print : tables.fingerprints()) print = rng.below(16);
  tables.insert_all(threads);
  return tables;
}

TEST_P(BothPolicies, ContentsDoNotDependOnThreads) {
  const HashTables one = filled(GetParam(), 1000, 1);
  std::vector<std::uint32_t> ids(300), fresh(6 * 300);
  for (std::uint32_t i = 0; i < 300; ++i) ids[i] = 3 * i;
  Rng rng(2, Purpose::kTest);
  for (std::uint32_t& print : fresh) print = rng.below(16);
  HashTables moved_one = filled(GetParam(), 1000, 1);
  moved_one.move(ids, fresh.data(), 1);
  for (int threads = 2; threads <= 4; ++threads) {
    HashTables many = filled(GetParam(), 1000, threads);
    for (std::uint32_t cell = 0; cell < 6 * 16; ++cell) {
      ASSERT_EQ(contents(many, cell / 16, cell % 16), contents(one, cell / 16, cell % 16));
    }
    many.move(ids, fresh.data(), threads);
    for (std::uint32_t cell = 0; cell < 6 * 16; ++cell) {
      ASSERT_EQ(contents(many, cell / 16, cell % 16), contents(moved_one, cell / 16, cell % 16));
    }
  }
}

// A long random history against the definition of the tables.
TEST_P(BothPolicies, EveryNeuronIsInItsOwnBucketOnly) {
  HashTables tables(make_config(GetParam(), 12, 3, 2), 90, 5);
  Rng rng(3, Purpose::kTest);
  for (int step = 0; step < 5000; ++step) {
    const std::uint32_t id = rng.below(90), print = rng.below(8);
    const std::uint32_t fresh[2] = {print, 7 - print};
    tables.move(std::span(&id, 1), fresh, 1);
    if (step % 50 != 0) continue;
    for (std::uint32_t cell = 0; cell < 16; ++cell) {
      const auto bucket = contents(tables, cell / 8, cell % 8);
      EXPECT_LE(bucket.size(), 12U);
      EXPECT_EQ(Ids(bucket.begin(), bucket.end()).size(), bucket.size());
      for (const std::uint32_t member : bucket) EXPECT_EQ(tables.fingerprint(cell / 8, member), cell % 8);
    }
  }
  EXPECT_GT(tables.occupancy().stored, 2 * 8 * 4U);
}

TEST_P(BothPolicies, OccupancyAddsUp) {
  const HashTables tables = filled(GetParam(), 1000, 2);
  const Occupancy sum = tables.occupancy();
  EXPECT_EQ(sum.buckets, 6 * 512U);
  EXPECT_EQ(sum.used_buckets, 6 * 16U);
  EXPECT_EQ(sum.full_buckets, 6 * 16U);
  EXPECT_EQ(sum.stored, 6 * 16 * 16U);
  EXPECT_DOUBLE_EQ(sum.mean_used, 16.0);
  EXPECT_GT(sum.largest_bucket, 62U);
  std::array<std::size_t, 17> histogram{};
  histogram[5] = 6 * 16;  // 16 to 31 entries
  EXPECT_EQ(sum.histogram, histogram);
}

TEST_P(BothPolicies, OccupanciesOfTablesAddUp) {
  Occupancy sum;
  sum.add(filled(GetParam(), 1000, 2).occupancy());
  const HashTables fuller = filled(GetParam(), 3000, 2);
  sum.add(fuller.occupancy());
  sum.add(HashTables(make_config(GetParam(), 4), 10, 5).occupancy());  // empty ones
  EXPECT_EQ(sum.buckets, 13 * 512U);
  EXPECT_EQ(sum.used_buckets, 12 * 16U);
  EXPECT_EQ(sum.full_buckets, 12 * 16U);
  EXPECT_EQ(sum.stored, 12 * 16 * 16U);
  EXPECT_DOUBLE_EQ(sum.mean_used, 16.0);
  EXPECT_EQ(sum.largest_bucket, fuller.occupancy().largest_bucket);
  std::array<std::size_t, 17> histogram{};
  histogram[0] = 4;
  histogram[5] = 12 * 16;
  EXPECT_EQ(sum.histogram, histogram);
  EXPECT_EQ(Occupancy().mean_used, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Policies, BothPolicies,
                         testing::Values(BucketPolicy::kFifo, BucketPolicy::kReservoir));

// In id order, a full bucket of every table would keep the same high ids and lose the others.
TEST(InsertAll, FullBucketsForgetDifferentNeuronsInEachTable) {
  HashTables tables(make_config(BucketPolicy::kFifo, 64, 2, 24), 512, 5);
  std::fill(tables.fingerprints().begin(), tables.fingerprints().end(), 0U);
  tables.insert_all(1);
  Ids found;
  for (std::size_t t = 0; t < 24; ++t) found.merge(as_set(tables, t, 0));
  EXPECT_GT(found.size(), 400U);
}

TEST(Rehash, ANeuronWithoutPlaceTakesOneThatBecameFree) {
  HashTables tables(make_config(BucketPolicy::kFifo, 4), 10, 5);
  for (std::uint32_t id = 0; id < 6; ++id) tables.insert(0, id, 1);  // 0 and 1 evicted
  const std::uint32_t moved[] = {5}, stays[] = {0}, there = 2, here = 1;
  tables.move(moved, &there, 1);
  tables.move(stays, &here, 1);
  EXPECT_EQ(as_set(tables, 0, 1), (Ids{0, 2, 3, 4}));
  EXPECT_EQ(as_set(tables, 0, 2), (Ids{5}));
}

// The shape of Amazon-670K at the published K = 6, bins of 8, 2^18 buckets of 128: flat buckets would take
// 134 MB per table.
TEST(Memory, SparseTablesCostWhatTheyStore) {
  HashConfig config = make_config(BucketPolicy::kFifo, 128, 6, 1);
  config.family = HashFamily::kDwta;
  config.range_pow = 18;
  HashTables tables(config, 200'000, 5);
  Rng rng(1, Purpose::kTest);
  for (std::uint32_t& print : tables.fingerprints()) print = rng.below(1U << 18);
  tables.insert_all(1);
  EXPECT_EQ(tables.occupancy().stored, 200'000U);
  EXPECT_LT(tables.bytes(), 12'000'000U);
}

}  // namespace
}  // namespace slide::lsh

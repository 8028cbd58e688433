// Tests of whether the order of a file matters.
#include "engine/statistics/file_order.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "datasets/rows/shuffle.h"
#include "datasets/rows/split.h"
#include "engine/base/rng.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

constexpr std::uint32_t kDriftRows = 600, kDriftLabels = 60, kDriftFeatures = 90;

// Rows of two labels and three features, each one of a window that moves along the file: from the first to
// the last of `moves` labels or features of all; 0: none.
Dataset drifting(std::uint32_t label_moves, std::uint32_t feature_moves, std::uint64_t seed = 1) {
  Rng rng(seed, Purpose::kTest);
  DatasetArrays arrays;
  const auto drawn = [&](std::uint32_t i, std::uint32_t all, std::uint32_t moves, std::size_t count) {
    std::set<std::uint32_t> ids;
    while (ids.size() < count) ids.insert(moves * i / kDriftRows + rng.below(all - moves));
    return ids;
  };
  for (std::uint32_t i = 0; i < kDriftRows; ++i) {
    const auto features = drawn(i, kDriftFeatures, feature_moves, 3);
    add_sample(arrays, features, {1.0F, 1.0F, 1.0F}, drawn(i, kDriftLabels, label_moves, 2));
  }
  return {std::move(arrays), kDriftFeatures, kDriftLabels};
}

Dataset shuffled(const Dataset& data, std::uint64_t seed) {
  std::vector<std::uint32_t> order(data.size());
  shuffle_order(order, seed, 1);
  return copy_rows(data, order);
}

TEST(FileOrder, TellsWhatDrifts) {
  const auto of = [](const Dataset& data) { return order_of_file(data, 1, 2); };
  EXPECT_TRUE(of(drifting(20, 0)).labels);
  EXPECT_FALSE(of(drifting(20, 0)).features);
  EXPECT_TRUE(of(drifting(0, 30)).features);
  EXPECT_FALSE(of(drifting(0, 30)).labels);
  EXPECT_TRUE(of(drifting(20, 30)).matters());
}

// Two tests of one in 400 each: about one alarm in 200 files, more than four have a probability of 0.004.
TEST(FileOrder, ShuffledFilesHaveNone) {
  std::size_t alarms = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    alarms += order_of_file(shuffled(drifting(30, 45), seed), 1, 2).matters() ? 1 : 0;
  EXPECT_LE(alarms, 4U);
}

// Copies in a row are an order, although no label is more frequent anywhere.
TEST(FileOrder, RunsOfDuplicatesAreAnOrder) {
  const Dataset data = drifting(0, 0);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < kDriftRows; ++i) rows.push_back(i / 4);
  const Dataset runs = copy_rows(data, rows);
  EXPECT_TRUE(order_of_file(runs, 1, 1).matters());
  EXPECT_FALSE(order_of_file(shuffled(runs, 3), 1, 1).matters());
}

TEST(FileOrder, NeedsSomethingToTell) {
  const Dataset ordered = drifting(30, 45);
  EXPECT_FALSE(order_of_file(ordered.slice(0, 63), 1, 1).matters()) << "too few samples";
  EXPECT_FALSE(order_of_file(Dataset(), 1, 1).matters());
  DatasetArrays same;
  for (std::uint32_t i = 0; i < kDriftRows; ++i) add_sample(same, {1}, {1.0F}, {2});
  EXPECT_FALSE(order_of_file(Dataset(std::move(same), 3, 3), 1, 1).matters()) << "all samples are equal";
}

TEST(FileOrder, IsTheSameOnAnyNumberOfThreads) {
  for (std::uint32_t moves = 0; moves < 12; ++moves) {
    const Dataset data = drifting(moves, moves, 40 + moves);
    const FileOrder one = order_of_file(data, 1, 1), three = order_of_file(data, 1, 3);
    EXPECT_EQ(one.labels, three.labels) << moves;
    EXPECT_EQ(one.features, three.features) << moves;
  }
}

// Of more entries than are looked at, every n-th sample is.
TEST(FileOrder, LooksAtEveryNthSampleOfManyEntries) {
  const auto large = [](std::uint32_t moves) {
    DatasetArrays arrays;
    Rng rng(1, Purpose::kTest);
    constexpr std::uint32_t kMany = 40000, kOfRow = 30;
    for (std::uint32_t i = 0; i < kMany; ++i) {
      for (std::uint32_t f = 0; f < kOfRow; ++f) {
        arrays.feature_ids.push_back(f * 40 + moves * i / kMany + rng.below(40 - moves));
        arrays.feature_values.push_back(1.0F);
      }
      arrays.label_ids.push_back(i % 2);
      arrays.feature_offsets.push_back(arrays.feature_ids.size());
      arrays.label_offsets.push_back(arrays.label_ids.size());
    }
    return Dataset(std::move(arrays), kOfRow * 40, 2);
  };
  EXPECT_TRUE(order_of_file(large(10), 1, 2).features);
  EXPECT_FALSE(order_of_file(large(0), 1, 2).features);
}

}  // namespace
}  // namespace slide::test

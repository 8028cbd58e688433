// Tests of item regression, against elimination of the whole matrix in double precision.
#include "engine/wide/item_ridge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/rng.h"
#include "engine/wide/linear_term.h"
#include "tests/wide/item_users.h"

namespace slide {
namespace {

// Column j: -P_ij / P_jj of P, the inverse, over the `power`-th power of j's popularity.
std::vector<double> naive_ridge(const Dataset& users, std::size_t items, double penalty, double power = 0) {
  std::vector<double> a(items * items), p(items * items), share(items);
  double mean = 0, used = 0;
  for (std::size_t u = 0; u < users.size(); ++u) {
    const auto own = users.labels(u);
    for (const std::uint32_t i : own)
      for (const std::uint32_t j : own) a[i * items + j] += 1.0 / std::sqrt(double(own.size()));
  }
  for (std::size_t i = 0; i < items; ++i) {
    mean += a[i * items + i];
    used += a[i * items + i] > 0 ? 1 : 0;
  }
  for (std::size_t i = 0; i < items; ++i) {
    share[i] = std::max(1e-4, a[i * items + i] * used / mean);
    a[i * items + i] += penalty * std::sqrt(std::sqrt(share[i]));
    p[i * items + i] = 1.0;
  }
  for (std::size_t k = 0; k < items; ++k) {
    const double pivot = a[k * items + k];
    for (std::size_t j = 0; j < items; ++j) {
      a[k * items + j] /= pivot;
      p[k * items + j] /= pivot;
    }
    for (std::size_t i = 0; i < items; ++i) {
      const double factor = a[i * items + k];
      if (i == k || factor == 0) continue;
      for (std::size_t j = 0; j < items; ++j) {
        a[i * items + j] -= factor * a[k * items + j];
        p[i * items + j] -= factor * p[k * items + j];
      }
    }
  }
  std::vector<double> weights(items * items);
  for (std::size_t j = 0; j < items; ++j)
    for (std::size_t i = 0; i < items; ++i)
      weights[j * items + i] =
          i == j ? 0.0 : -p[i * items + j] / p[j * items + j] / std::pow(share[j], power);
  return weights;
}

TEST(ItemRidge, EqualsTheInverseInDoublePrecision) {
  for (const std::uint32_t items : {3U, 64U, 65U, 150U}) {
    const Dataset users = some_users(400, items, items);
    const ItemWeights weights = ridge_of_items(users, 3.0, 2);
    ASSERT_EQ(weights.items(), items);
    const std::vector<double> expected = naive_ridge(users, items, 3.0);
    for (std::size_t j = 0; j < items; ++j) {
      for (std::size_t i = 0; i < items; ++i)
        ASSERT_NEAR(weights.row(j)[i], expected[j * items + i], 2e-5) << items << ": " << i << " for " << j;
      EXPECT_EQ(weights.row(j)[j], 0.0F);
    }
    for (const float weight : weights.row(items - 1)) EXPECT_EQ(weight, 0.0F) << "no user has that item";
  }
}

TEST(ItemRidge, WhereUsersHaveManyItemsPopularOnesGetLess) {
  Rng rng(3, Purpose::kTest);
  DatasetArrays arrays;
  std::size_t pairs = 0;
  for (std::size_t u = 0; u < 300; ++u) {
    std::vector<std::uint32_t> own;
    for (std::uint32_t item = 0; item < 90; ++item) {
      if (rng.below(90) >= item / 2) own.push_back(item);  // the first items have the most users
    }
    add_user(arrays, own);
    pairs += own.size();
  }
  const Dataset users(std::move(arrays), 90, 90);
  const double power = 0.15 * (1 - 25.0 * 300 / double(pairs));
  ASSERT_GT(power, 0.05);
  const std::vector<double> expected = naive_ridge(users, 90, 20.0, power);
  const ItemWeights weights = ridge_of_items(users, 20.0, 2);
  for (std::size_t j = 0; j < 90; ++j)
    for (std::size_t i = 0; i < 90; ++i)
      ASSERT_NEAR(weights.row(j)[i], expected[j * 90 + i], 2e-5) << i << " for " << j;
}

// Items with equal users are distinguished only by the penalty, which floats would lose.
TEST(ItemRidge, StaysFiniteWithTwinsAndNextToNoPenalty) {
  DatasetArrays arrays;
  for (std::uint32_t u = 0; u < 400; ++u) {
    const std::uint32_t a = 2 * (u % 17), b = 2 * (u % 13 + 17);
    add_user(arrays, {a, a + 1, b, b + 1});
  }
  const Dataset users(std::move(arrays), 60, 60);
  for (const double penalty : {1e-9, 1e-3}) {
    const ItemWeights weights = ridge_of_items(users, penalty, 2);
    for (std::size_t j = 0; j < 60; ++j)
      for (const float w : weights.row(j)) EXPECT_LT(std::fabs(w), 10.0F) << j;
  }
}

// Of twice as many items, each second one of the heavy user counts; item 1 has users of its own.
TEST(ItemRidge, OfAHeavyUserSoManyItemsCount) {
  constexpr std::uint32_t kItems = 2 * kMaxRidgeUserItems;
  DatasetArrays arrays;
  std::vector<std::uint32_t> all(kItems);
  for (std::uint32_t i = 0; i < kItems; ++i) all[i] = i;
  add_user(arrays, all);
  for (int user = 0; user < 3; ++user) add_user(arrays, {0, 1, 2});
  const Dataset users(std::move(arrays), kItems, kItems);
  const ItemWeights weights = ridge_of_items(users, 5.0, 2);
  for (std::size_t j = 0; j < kItems; ++j) {
    const bool counts = j == 1 || j % 2 == 0;
    for (std::size_t i = 0; i < kItems; ++i) {
      if (!counts || (i != 1 && i % 2 == 1) || i == j) {
        ASSERT_EQ(weights.row(j)[i], 0.0F) << i << " for " << j;
      }
    }
    if (counts) {
      EXPECT_GT(weights.row(j)[j == 0 ? 2 : 0], 0.0F) << j;
    }
  }
  EXPECT_GT(weights.row(1)[2], 10 * weights.row(4)[2]);
}

TEST(ItemRidge, DoesNotDependOnThreads) {
  const Dataset users = some_users(300, 200, 5);
  const ItemWeights one = ridge_of_items(users, 10.0, 1);
  for (const int threads : {2, 3, 8}) {
    const ItemWeights more = ridge_of_items(users, 10.0, threads);
    for (std::size_t j = 0; j < 200; ++j) ASSERT_TRUE(std::ranges::equal(one.row(j), more.row(j)));
  }
}

TEST(ItemRidge, ALinearTermStartsAtItsStrongestWeights) {
  const Dataset users = some_users(300, 100, 6);
  const ItemWeights weights = ridge_of_items(users, 5.0, 1);
  LayerConfig layer;
  layer.wide = true;
  layer.wide_features = 10;
  const LinearTerm path(layer, weights, 20, 30, 2.0, 2);
  const LinearTerm::Storage& storage = path.storage();
  ASSERT_EQ(storage.offsets.size(), 31U);
  for (std::size_t n = 0; n < 30; ++n) {
    const auto row = weights.row(20 + n);
    std::vector<float> sizes;
    for (const float weight : row) sizes.push_back(std::fabs(weight));
    std::ranges::sort(sizes, std::greater<>());
    ASSERT_EQ(storage.offsets[n + 1] - storage.offsets[n], 10U);
    for (std::uint64_t w = storage.offsets[n]; w < storage.offsets[n + 1]; ++w) {
      const std::uint32_t feature = storage.features.data()[w];
      EXPECT_EQ(storage.weights.data()[w], 2.0F * row[feature]);
      EXPECT_GE(std::fabs(row[feature]), sizes[9]);
      if (w > storage.offsets[n]) {
        EXPECT_LT(storage.features.data()[w - 1], feature);
      }
    }
  }
}

// X^T W X.
std::vector<double> naive_common(const Dataset& users) {
  const std::size_t items = users.label_count();
  std::vector<double> common(items * items);
  for (std::size_t u = 0; u < users.size(); ++u) {
    const auto own = users.labels(u);
    for (const std::uint32_t a : own)
      for (const std::uint32_t b : own) common[a * items + b] += 1.0 / std::sqrt(double(own.size()));
  }
  return common;
}

// The weights of the co-occurring items `ids` for item j, by elimination.
std::vector<double> naive_cooccurrence(const std::vector<double>& common, std::size_t items, std::size_t j,
                                       std::span<const std::uint32_t> ids, double penalty) {
  const std::size_t n = ids.size(), width = n + 1;
  std::vector<double> a(n * width), weights(items);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < n; ++c)
      a[r * width + c] = common[ids[r] * items + ids[c]] + (r == c ? penalty : 0);
    a[r * width + n] = common[ids[r] * items + j];
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t r = 0; r < n; ++r) {
      const double factor = r == k ? 0.0 : a[r * width + k] / a[k * width + k];
      for (std::size_t c = k; c < width; ++c) a[r * width + c] -= factor * a[k * width + c];
    }
  }
  for (std::size_t r = 0; r < n; ++r) weights[ids[r]] = a[r * width + n] / a[r * width + r];
  return weights;
}

std::vector<float> filled(const ItemWeights& weights, std::size_t j) {
  std::vector<float> row(weights.items());
  const SparseRow list = weights.list(j);
  for (std::size_t i = 0; i < list.ids.size(); ++i) row[list.ids[i]] = list.values[i];
  return row;
}

TEST(SparseItemRidge, EqualsTheSystemOfCooccurringItemsInDoublePrecision) {
  const Dataset users = some_users(400, 60, 7);
  const ItemWeights weights = ridge_of_cooccurring(users, 3.0, 10, 2);
  const std::vector<double> common = naive_common(users);
  ASSERT_FALSE(weights.dense());
  for (std::size_t j = 0; j < 60; ++j) {
    const auto ids = weights.list(j).ids;
    double least = 1e9, left_out = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      if (i == j) continue;
      const double weight = common[j * 60 + i];
      std::ranges::binary_search(ids, i) ? least = std::min(least, weight)
                                         : left_out = std::max(left_out, weight);
    }
    EXPECT_EQ(ids.size(), j == 59 ? 0U : 10U);
    EXPECT_LE(left_out, least + 1e-5) << "of " << j;
    const std::vector<double> expected = naive_cooccurrence(common, 60, j, ids, 3.0);
    const std::vector<float> row = filled(weights, j);
    for (std::size_t i = 0; i < 60; ++i) ASSERT_NEAR(row[i], expected[i], 2e-5) << i << " for " << j;
  }
  EXPECT_TRUE(weights.list(59).ids.empty()) << "no user has that item";
}

// 25 items with equally many users, and equally many common users per pair; users have 5 items each.
Dataset even_users() {
  DatasetArrays arrays;
  for (const std::uint32_t step : {1U, 3U, 8U, 11U}) {
    for (std::uint32_t u = 0; u < 25; ++u) {
      std::vector<std::uint32_t> own;
      for (std::uint32_t i = 0; i < 5; ++i) own.push_back((u + i * step + i * i) % 25);
      std::sort(own.begin(), own.end());
      add_user(arrays, own);
    }
  }
  return {std::move(arrays), 25, 25};
}

TEST(SparseItemRidge, OfAllItemsOfOnePopularityIsTheRidgeOfItems) {
  const Dataset users = even_users();
  const ItemWeights all = ridge_of_items(users, 5.0, 1), lists = ridge_of_cooccurring(users, 5.0, 24, 1);
  const std::vector<std::uint32_t> ids{0, 7, 21, 24};
  const std::vector<float> values{1.0F, 0.5F, 2.0F, 1.0F};
  for (std::size_t j = 0; j < 25; ++j) {
    ASSERT_EQ(lists.list(j).ids.size(), 24U);
    const std::vector<float> row = filled(lists, j);
    for (std::size_t i = 0; i < 25; ++i) ASSERT_NEAR(row[i], all.row(j)[i], 2e-5);
    EXPECT_NEAR(lists.product(j, {ids, values}), all.product(j, {ids, values}), 1e-4);
  }
}

TEST(SparseItemRidge, DoesNotDependOnThreads) {
  const Dataset users = some_users(20000, 9000, 9);  // more items than the dense method allows
  const ItemWeights one = ridge_of_cooccurring(users, 10.0, 32, 1);
  std::size_t entries = 0;
  for (const int threads : {2, 3}) {
    const ItemWeights more = ridge_of_cooccurring(users, 10.0, 32, threads);
    for (std::size_t j = 0; j < 9000; ++j) {
      ASSERT_TRUE(std::ranges::equal(one.list(j).ids, more.list(j).ids));
      ASSERT_TRUE(std::ranges::equal(one.list(j).values, more.list(j).values));
      entries += more.list(j).ids.size();
    }
  }
  EXPECT_GT(entries, 9000U);
}

TEST(ItemRidgeByUsers, EqualsTheSystemOfAllOtherItemsInDoublePrecision) {
  for (const std::size_t count : {1U, 63U, 130U}) {
    const Dataset users = some_users(count, 50, count);
    const ItemWeights weights = ridge_by_users(users, 3.0, 50, 2);
    ASSERT_EQ(weights.items(), 50U);
    const std::vector<double> common = naive_common(users);
    for (std::size_t j = 0; j < 50; ++j) {
      std::vector<std::uint32_t> others;
      for (std::uint32_t i = 0; i < 50; ++i)
        if (i != j) others.push_back(i);
      const std::vector<double> expected = naive_cooccurrence(common, 50, j, others, 3.0);
      const std::vector<float> row = filled(weights, j);
      for (std::size_t i = 0; i < 50; ++i) ASSERT_NEAR(row[i], expected[i], 2e-5) << i << " for " << j;
    }
    EXPECT_TRUE(weights.list(49).ids.empty()) << "no user has that item";
  }
}

TEST(ItemRidgeByUsers, KeepsTheLargestWeightsAndDoesNotDependOnThreads) {
  const Dataset users = some_users(300, 100, 4);
  const ItemWeights all = ridge_by_users(users, 3.0, 100, 1), some = ridge_by_users(users, 3.0, 7, 3);
  for (std::size_t j = 0; j < 99; ++j) {
    ASSERT_EQ(some.list(j).ids.size(), 7U);
    const std::vector<float> row = filled(all, j), kept = filled(some, j);
    float least = 1e9F, left_out = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_TRUE(kept[i] == 0 || kept[i] == row[i]);
      kept[i] != 0 ? least = std::min(least, std::fabs(row[i]))
                   : left_out = std::max(left_out, std::fabs(row[i]));
    }
    EXPECT_LE(left_out, least) << "of " << j;
  }
}

TEST(SparseItemRidge, ALinearTermStartsAtItsStrongestWeights) {
  const Dataset users = some_users(300, 100, 6);
  const ItemWeights weights = ridge_of_cooccurring(users, 5.0, 30, 1);
  LayerConfig layer;
  layer.wide = true;
  layer.wide_features = 10;
  const LinearTerm path(layer, weights, 20, 30, 2.0, 2);
  const LinearTerm::Storage& storage = path.storage();
  for (std::size_t n = 0; n < 30; ++n) {
    const std::vector<float> row = filled(weights, 20 + n);
    ASSERT_EQ(storage.offsets[n + 1] - storage.offsets[n], 10U);
    for (std::uint64_t w = storage.offsets[n]; w < storage.offsets[n + 1]; ++w)
      EXPECT_EQ(storage.weights.data()[w], 2.0F * row[storage.features.data()[w]]);
  }
}

}  // namespace
}  // namespace slide

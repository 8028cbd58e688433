// Tests of the choice of item weights by users held out, and of paths, against sums over all users.
#include "engine/wide/item_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/rng.h"
#include "tests/wide/item_users.h"

namespace slide {
namespace {

// Numbers of users of all items.
std::vector<double> degrees(const Dataset& users) {
  std::vector<double> count(users.label_count());
  for (std::size_t u = 0; u < users.size(); ++u)
    for (const std::uint32_t item : users.labels(u)) ++count[item];
  for (double& one : count) one = std::max(1.0, one);
  return count;
}

// Weights of paths to item j, by their definition.
std::vector<double> naive_paths(const Dataset& users, std::uint32_t j, const ItemFit& fit) {
  const std::vector<double> degree = degrees(users);
  std::vector<double> weights(users.label_count());
  for (std::size_t u = 0; u < users.size(); ++u) {
    const auto own = users.labels(u);
    if (!std::ranges::binary_search(own, j)) continue;
    for (const std::uint32_t i : own) weights[i] += i == j ? 0.0 : 1.0 / double(own.size());
  }
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] *= fit.paths / std::pow(degree[i], fit.from_power) / std::pow(degree[j], fit.to_power);
  return weights;
}

TEST(ItemFit, PathsAreAddedToTheRegression) {
  const Dataset users = some_users(400, 60, 5);
  const ItemFit alone{3.0}, both{3.0, 0.8, 0.7, 0.3};
  const ItemWeights before = item_weights(users, alone, 2), after = item_weights(users, both, 2);
  ASSERT_TRUE(after.dense());
  for (std::uint32_t j = 0; j < 60; ++j) {
    const std::vector<double> paths = naive_paths(users, j, both);
    for (std::size_t i = 0; i < 60; ++i)
      ASSERT_NEAR(after.row(j)[i], before.row(j)[i] + paths[i], 1e-5) << i << " for " << j;
  }
}

TEST(ItemFit, OfManyItemsTheStrongestPathsAreAddedToLists) {
  const Dataset users = some_users(20000, 9000, 9);  // more items than the dense method allows
  const ItemFit alone{10.0}, both{10.0, 0.8, 0.5, 0.5};
  const ItemWeights before = item_weights(users, alone, 2), after = item_weights(users, both, 3);
  for (const std::uint32_t j : {0U, 17U, 4500U, 8999U}) {
    const std::vector<double> paths = naive_paths(users, j, both);
    std::vector<float> expected(9000);
    const SparseRow own = before.list(j), mixed = after.list(j);
    for (std::size_t k = 0; k < own.ids.size(); ++k) expected[own.ids[k]] = own.values[k];
    std::size_t nonzero = 0;
    for (std::size_t i = 0; i < 9000; ++i) nonzero += paths[i] != 0 || expected[i] != 0 ? 1 : 0;
    ASSERT_EQ(mixed.ids.size(), nonzero) << "fewer than " << kMaxPaths;
    for (std::size_t k = 0; k < mixed.ids.size(); ++k) {
      const std::uint32_t i = mixed.ids[k];
      ASSERT_NEAR(mixed.values[k], expected[i] + paths[i], 1e-6) << i << " for " << j;
    }
  }
}

// Items in groups of ten. A user has six of one group and two of anywhere.
Dataset grouped_users(std::size_t count, std::uint64_t seed) {
  constexpr std::uint32_t kItems = 400, kGroup = 10;
  Rng rng(seed, Purpose::kTest);
  DatasetArrays arrays;
  for (std::size_t u = 0; u < count; ++u) {
    const std::uint32_t first = rng.below(kItems / kGroup) * kGroup;
    std::vector<std::uint32_t> own{rng.below(kItems), rng.below(kItems)};
    for (int i = 0; i < 6; ++i) own.push_back(first + rng.below(kGroup));
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    add_user(arrays, own);
  }
  return {std::move(arrays), kItems, kItems};
}

// With next to no penalty the regression takes what each of the few users happened to have for a rule.
TEST(ItemFit, APenaltyThatIsFarTooSmallIsRaised) {
  const Dataset users = grouped_users(600, 1);
  const ItemFit fit = choose_item_fit(users, 1e-3, 1, 2);
  EXPECT_TRUE(fit.penalty > 1e-3 || fit.paths > 0) << fit.penalty << ' ' << fit.paths;
}

TEST(ItemFit, DoesNotDependOnThreads) {
  const Dataset users = grouped_users(600, 1);
  const ItemFit one = choose_item_fit(users, 1e-3, 1, 1);
  for (const int threads : {2, 3}) {
    const ItemFit more = choose_item_fit(users, 1e-3, 1, threads);
    EXPECT_EQ(more.penalty, one.penalty);
    EXPECT_EQ(more.paths, one.paths);
    EXPECT_EQ(more.from_power, one.from_power);
    EXPECT_EQ(more.to_power, one.to_power);
  }
}

TEST(ItemFit, OfTooFewUsersNothingIsChosen) {
  const Dataset users = grouped_users(400, 1);
  const ItemFit fit = choose_item_fit(users, 1e-3, 1, 2);
  EXPECT_EQ(fit.penalty, 1e-3);
  EXPECT_EQ(fit.paths, 0);
}

}  // namespace
}  // namespace slide

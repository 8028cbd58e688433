#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/statistics/label_sums.h"
#include "engine/wide/cholesky.h"
#include "engine/wide/item_ridge.h"

namespace slide {

namespace {

constexpr std::size_t kKeptCommon = 2048;  // co-occurring items stored per item

// Per item: the items that share most users with it, and their weights.
struct CommonUsers {
  struct Row {
    std::vector<std::uint32_t> ids;  // strongest first
    std::vector<float> weights;
    float own = 0.0F;  // sum over all its users
  };
  std::vector<Row> rows;
};

// Working memory of a thread.
struct RidgeScratch {
  std::vector<float> sums;               // by item, 0 between uses
  std::vector<std::uint32_t> met;        // items of nonzero sum
  std::vector<std::uint32_t> strongest;  // the kept ones of these
  std::vector<std::uint32_t> places;     // by item: 1 + index among the co-occurring items, or 0
  std::vector<double> matrix, right;     // of the regression
};

// Fills `row` with the up to kKeptCommon items that share most users with `item` (weighted), strongest
// first.
void find_common(const RidgeUsers& users, std::uint32_t item, RidgeScratch& scratch, CommonUsers::Row& row) {
  add_common(
      users, item, [&](std::uint32_t user) { return users.weight(user); }, scratch.sums, scratch.met);
  row.own = scratch.sums[item];
  std::erase(scratch.met, item);
  scratch.strongest = scratch.met;
  keep_strongest(scratch.strongest, kKeptCommon, scratch.sums);
  std::ranges::sort(scratch.strongest, [&](std::uint32_t a, std::uint32_t b) {
    return scratch.sums[a] != scratch.sums[b] ? scratch.sums[a] > scratch.sums[b] : a < b;
  });
  row.ids.assign(scratch.strongest.begin(), scratch.strongest.end());  // exact size
  row.weights.reserve(row.ids.size());
  for (const std::uint32_t id : row.ids) row.weights.push_back(scratch.sums[id]);
  for (const std::uint32_t id : scratch.met) scratch.sums[id] = 0.0F;
  scratch.sums[item] = 0.0F;
  scratch.met.clear();
}

// Fills the lower half of the Gram matrix of the co-occurring items [ids x ids].
void gather_matrix(const CommonUsers& common, std::span<const std::uint32_t> ids, double penalty,
                   RidgeScratch& scratch) {
  const std::size_t n = ids.size();
  scratch.matrix.assign(n * n, 0.0);
  for (std::size_t a = 0; a < n; ++a) scratch.places[ids[a]] = static_cast<std::uint32_t>(a + 1);
  for (std::size_t a = 0; a < n; ++a) {
    const CommonUsers::Row& row = common.rows[ids[a]];
    scratch.matrix[a * n + a] = penalty + row.own;
    for (std::size_t i = 0; i < row.ids.size(); ++i) {
      const std::uint32_t place = scratch.places[row.ids[i]];
      if (place == 0) continue;
      const std::size_t b = place - 1;
      // either row may have dropped the entry
      scratch.matrix[std::max(a, b) * n + std::min(a, b)] = row.weights[i];
    }
  }
  for (const std::uint32_t id : ids) scratch.places[id] = 0;
}

}  // namespace

double bytes_of_sparse_ridge(std::size_t items, double pairs, std::size_t limit, int threads) {
  constexpr double kEntry = sizeof(std::uint32_t) + sizeof(float);
  const auto all = static_cast<double>(items), cooccurring = static_cast<double>(limit);
  const double common = all * sizeof(CommonUsers::Row) + std::min(all * kKeptCommon, pairs) * kEntry;
  const double result = all * (2 * sizeof(std::vector<float>)) + std::min(all * cooccurring, pairs) * kEntry;
  const double scratch = all * 4 * sizeof(std::uint32_t) + cooccurring * cooccurring * sizeof(double);
  return common + result + threads * scratch;
}

// First pass: the co-occurring items of each item. Second pass, item j: solves (G + penalty I) w = g for its
// weights w, with G the Gram matrix X^T W X of its `limit` strongest co-occurring items, and g the products
// (X^T W X)_ij of these items i with item j.
ItemWeights ridge_of_cooccurring(const Dataset& all_users, double penalty, std::size_t limit, int threads) {
  constexpr std::size_t kItems = 16;  // items per task
  const RidgeUsers users(all_users);
  const std::size_t items = all_users.label_count(), tasks = (items + kItems - 1) / kItems;
  std::vector<ItemWeights::List> lists(items);
  std::vector<RidgeScratch> of_thread(static_cast<std::size_t>(std::max(1, threads)));
  for (RidgeScratch& scratch : of_thread) {
    scratch.sums.resize(items);
    scratch.places.resize(items);
  }
  const auto each = [&](auto&& work) {
    parallel_for(tasks, threads, [&](std::size_t task, int thread) {
      for (std::size_t i = task * kItems; i < std::min(items, (task + 1) * kItems); ++i)
        work(static_cast<std::uint32_t>(i), of_thread[static_cast<std::size_t>(thread)]);
    });
  };
  CommonUsers common{std::vector<CommonUsers::Row>(items)};
  each([&](std::uint32_t i, RidgeScratch& scratch) { find_common(users, i, scratch, common.rows[i]); });
  each([&](std::uint32_t j, RidgeScratch& scratch) {
    const CommonUsers::Row& row = common.rows[j];
    const std::size_t n = std::min(limit, row.ids.size());
    std::vector<std::uint32_t> ids(row.ids.begin(), row.ids.begin() + static_cast<std::ptrdiff_t>(n));
    std::ranges::sort(ids);
    for (std::size_t i = 0; i < n; ++i) scratch.sums[row.ids[i]] = row.weights[i];
    scratch.right.clear();
    for (const std::uint32_t id : ids) scratch.right.push_back(std::exchange(scratch.sums[id], 0.0F));
    gather_matrix(common, ids, penalty, scratch);
    // Min pivot: entries dropped from rows may lower a pivot by more than the penalty.
    solve_by_cholesky(n, scratch.matrix.data(), scratch.right.data(), penalty);
    lists[j].weights.assign(scratch.right.begin(), scratch.right.end());
    lists[j].ids = std::move(ids);
  });
  return ItemWeights(std::move(lists));
}

}  // namespace slide

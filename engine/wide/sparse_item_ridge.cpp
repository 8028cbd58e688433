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

void find_common(const RidgeUsers& users, std::uint32_t item, RidgeScratch& room, CommonUsers::Row& row) {
  add_common(
      users, item, [&](std::uint32_t user) { return users.weight(user); }, room.sums, room.met);
  row.own = room.sums[item];
  std::erase(room.met, item);
  room.strongest = room.met;
  keep_strongest(room.strongest, kKeptCommon, room.sums);
  std::ranges::sort(room.strongest, [&](std::uint32_t a, std::uint32_t b) {
    return room.sums[a] != room.sums[b] ? room.sums[a] > room.sums[b] : a < b;
  });
  row.ids.assign(room.strongest.begin(), room.strongest.end());  // exact size
  row.weights.reserve(row.ids.size());
  for (const std::uint32_t id : row.ids) row.weights.push_back(room.sums[id]);
  for (const std::uint32_t id : room.met) room.sums[id] = 0.0F;
  room.sums[item] = 0.0F;
  room.met.clear();
}

// Fills the lower half of the Gram matrix of the co-occurring items [ids x ids].
void gather_matrix(const CommonUsers& common, std::span<const std::uint32_t> ids, double penalty,
                   RidgeScratch& room) {
  const std::size_t n = ids.size();
  room.matrix.assign(n * n, 0.0);
  for (std::size_t a = 0; a < n; ++a) room.places[ids[a]] = static_cast<std::uint32_t>(a + 1);
  for (std::size_t a = 0; a < n; ++a) {
    const CommonUsers::Row& row = common.rows[ids[a]];
    room.matrix[a * n + a] = penalty + row.own;
    for (std::size_t i = 0; i < row.ids.size(); ++i) {
      const std::uint32_t place = room.places[row.ids[i]];
      if (place == 0) continue;
      const std::size_t b = place - 1;
      // either row may have dropped the entry
      room.matrix[std::max(a, b) * n + std::min(a, b)] = row.weights[i];
    }
  }
  for (const std::uint32_t id : ids) room.places[id] = 0;
}

}  // namespace

double bytes_of_sparse_ridge(std::size_t items, double pairs, std::size_t limit, int threads) {
  constexpr double kEntry = sizeof(std::uint32_t) + sizeof(float);
  const auto all = static_cast<double>(items), cooccurring = static_cast<double>(limit);
  const double common = all * sizeof(CommonUsers::Row) + std::min(all * kKeptCommon, pairs) * kEntry;
  const double result = all * (2 * sizeof(std::vector<float>)) + std::min(all * cooccurring, pairs) * kEntry;
  const double room = all * 4 * sizeof(std::uint32_t) + cooccurring * cooccurring * sizeof(double);
  return common + result + threads * room;
}

ItemWeights ridge_of_cooccurring(const Dataset& all_users, double penalty, std::size_t limit, int threads) {
  constexpr std::size_t kItems = 16;  // items per task
  const RidgeUsers users(all_users);
  const std::size_t items = all_users.label_count(), tasks = (items + kItems - 1) / kItems;
  std::vector<ItemWeights::List> lists(items);
  std::vector<RidgeScratch> rooms(static_cast<std::size_t>(std::max(1, threads)));
  for (RidgeScratch& room : rooms) {
    room.sums.resize(items);
    room.places.resize(items);
  }
  const auto each = [&](auto&& work) {
    parallel_for(tasks, threads, [&](std::size_t task, int thread) {
      for (std::size_t i = task * kItems; i < std::min(items, (task + 1) * kItems); ++i)
        work(static_cast<std::uint32_t>(i), rooms[static_cast<std::size_t>(thread)]);
    });
  };
  CommonUsers common{std::vector<CommonUsers::Row>(items)};
  each([&](std::uint32_t i, RidgeScratch& room) { find_common(users, i, room, common.rows[i]); });
  each([&](std::uint32_t j, RidgeScratch& room) {
    const CommonUsers::Row& row = common.rows[j];
    const std::size_t n = std::min(limit, row.ids.size());
    std::vector<std::uint32_t> ids(row.ids.begin(), row.ids.begin() + static_cast<std::ptrdiff_t>(n));
    std::ranges::sort(ids);
    for (std::size_t i = 0; i < n; ++i) room.sums[row.ids[i]] = row.weights[i];
    room.right.clear();
    for (const std::uint32_t id : ids) room.right.push_back(std::exchange(room.sums[id], 0.0F));
    gather_matrix(common, ids, penalty, room);
    // Min pivot: entries dropped from rows may lower a pivot by more than the penalty.
    solve_by_cholesky(n, room.matrix.data(), room.right.data(), penalty);
    lists[j].weights.assign(room.right.begin(), room.right.end());
    lists[j].ids = std::move(ids);
  });
  return ItemWeights(std::move(lists));
}

}  // namespace slide

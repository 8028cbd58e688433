#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/statistics/label_sums.h"
#include "engine/wide/block_inverse.h"
#include "engine/wide/item_ridge.h"

namespace slide {

namespace {

constexpr std::size_t kTogether = 16;  // items regressed together
constexpr float kMinRest = 1e-4F;      // min 1 - c_jj, below which float32 has no digits left

// Working memory of a thread, for kTogether items side by side.
struct ByUsersScratch {
  std::vector<float> sums;    // [users]: K x_j of one item j
  std::vector<float> users;   // [users x kTogether]: K x_j
  std::vector<float> items;   // [items x kTogether]: c_ij = x_i^T K x_j
  std::vector<float> column;  // [items]: c_ij of one item j
};

// K = (l W^-1 + X X^T)^-1, [stride x stride], symmetric; rows and columns from the number of users on are
// padding.
AlignedArray<float> inverse_of_users(const RidgeUsers& users, double penalty, std::size_t stride,
                                     int threads) {
  const std::size_t count = users.size();
  AlignedArray<float> matrix(stride * stride);
  parallel_for(stride, threads, [&](std::size_t u, int) {
    float* const row = matrix.data() + u * stride;
    if (u >= count) {
      row[u] = 1.0F;
      return;
    }
    for (const std::uint32_t item : users.items(u))
      for (const std::uint32_t other : users.users_of(item)) row[other] += 1.0F;
    row[u] += static_cast<float>(penalty / users.weight(u));
  });
  BlockInverse(matrix.data(), stride).run(threads);
  return matrix;
}

// Fills scratch.items with c_ij = x_i^T K x_j for all items i and the items j in [first, first + count); x_j
// is the column of item j in X: 1 for its users. First sums the rows of K over the users of j, then these
// sums over the users of i.
void regress(const RidgeUsers& of, const AlignedArray<float>& inverse, std::size_t stride, std::size_t first,
             std::size_t count, ByUsersScratch& scratch) {
  const std::size_t users = of.size(), items = of.item_count();
  for (std::size_t l = 0; l < count; ++l) {
    std::ranges::fill(scratch.sums, 0.0F);
    for (const std::uint32_t user : of.users_of(first + l)) {
      const float* const row = inverse.data() + user * stride;
      for (std::size_t u = 0; u < users; ++u) scratch.sums[u] += row[u];
    }
    for (std::size_t u = 0; u < users; ++u) scratch.users[u * kTogether + l] = scratch.sums[u];
  }
  for (std::size_t i = 0; i < items; ++i) {
    std::array<float, kTogether> sum{};
    for (const std::uint32_t user : of.users_of(i)) {
      const float* const one = scratch.users.data() + user * kTogether;
      for (std::size_t l = 0; l < kTogether; ++l) sum[l] += one[l];
    }
    std::ranges::copy(sum, scratch.items.begin() + static_cast<std::ptrdiff_t>(i * kTogether));
  }
}

// The weights of item j, lane l of scratch.items: -P_ij / P_jj = c_ij / (1 - c_jj).
ItemWeights::List strongest_of(std::size_t j, std::size_t l, std::size_t limit, ByUsersScratch& scratch) {
  ItemWeights::List list;
  const float rest = 1.0F - scratch.items[j * kTogether + l];
  for (std::uint32_t i = 0; i < scratch.column.size(); ++i) {
    scratch.column[i] = scratch.items[i * kTogether + l] / std::max(rest, kMinRest);
    if (scratch.column[i] != 0.0F && i != j) list.ids.push_back(i);
  }
  keep_strongest(list.ids, limit, scratch.column);
  std::ranges::sort(list.ids);
  list.ids.shrink_to_fit();
  list.weights.reserve(list.ids.size());
  for (const std::uint32_t i : list.ids) list.weights.push_back(scratch.column[i]);
  return list;
}

}  // namespace

double bytes_of_ridge_by_users(std::size_t users, std::size_t items, std::size_t limit, int threads) {
  const auto stride = double(BlockInverse::stride_of(users)), all = double(items);
  const double matrix = (stride + BlockInverse::kPivots) * stride * sizeof(float);
  const double lists = all * (sizeof(ItemWeights::List) +
                              std::min(double(limit), all) * (sizeof(std::uint32_t) + sizeof(float)));
  const double scratch = (stride + all) * (kTogether + 1) * sizeof(float) + all * 3 * sizeof(std::uint64_t);
  return matrix + lists + std::max(1, threads) * scratch;
}

// Inverts the matrix of the users once, then regresses kTogether items per task.
ItemWeights ridge_by_users(const Dataset& all_users, double penalty, std::size_t limit, int threads) {
  const RidgeUsers users(all_users);
  const std::size_t items = users.item_count(), count = users.size();
  const std::size_t stride = BlockInverse::stride_of(count);
  const AlignedArray<float> inverse = inverse_of_users(users, penalty, stride, threads);
  std::vector<ByUsersScratch> of_thread(static_cast<std::size_t>(std::max(1, threads)));
  for (ByUsersScratch& scratch : of_thread) {
    scratch.sums.resize(count);
    scratch.users.resize(count * kTogether);
    scratch.items.resize(items * kTogether);
    scratch.column.resize(items);
  }
  std::vector<ItemWeights::List> lists(items);
  parallel_for((items + kTogether - 1) / kTogether, threads, [&](std::size_t task, int thread) {
    ByUsersScratch& scratch = of_thread[static_cast<std::size_t>(thread)];
    const std::size_t first = task * kTogether, these = std::min(kTogether, items - first);
    regress(users, inverse, stride, first, these, scratch);
    for (std::size_t l = 0; l < these; ++l) lists[first + l] = strongest_of(first + l, l, limit, scratch);
  });
  return ItemWeights(std::move(lists));
}

}  // namespace slide

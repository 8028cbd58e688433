#include "engine/wide/item_ridge.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/wide/block_inverse.h"

namespace slide {

namespace {

constexpr std::size_t kRows = 16;  // matrix rows per task

// Relative to an item's own square: below it, floats lose too much, and items with identical users make the
// matrix singular.
constexpr float kMinPenalty = 1e-5F;

// row[place[i]] += (X^T W X)[item][i] for every item i that shares a user with `item`. O(items of these
// users).
void add_common_users(const RidgeUsers& users, std::size_t item, std::span<const std::uint32_t> place,
                      float* row) {
  for (const std::uint32_t user : users.users_of(item)) {
    const float weight = users.weight(user);
    for (const std::uint32_t other : users.items(user)) row[place[other]] += weight;
  }
}

constexpr double kPenaltyPower = 0.25;  // of the popularity, in the penalty of an item
constexpr double kMinShare = 1e-4;      // min popularity share of an item
constexpr double kFactorPower = 0.15;   // limit of p for very many items per user

// p of item_ridge.h: 0 up to kItemsOfUser items per user.
double factor_power(const Dataset& users) {
  return kFactorPower * std::max(0.0, 1 - kItemsOfUser / items_of_user(users));
}

// Popularity of each item relative to the mean over items that occur.
std::vector<double> shares_of_mean(std::vector<double> popularity) {
  double sum = 0, count = 0;
  for (const double one : popularity) {
    sum += one;
    count += one > 0 ? 1 : 0;
  }
  for (double& one : popularity) one = count == 0 ? 1 : std::max(one * count / sum, kMinShare);
  return popularity;
}

// The users with at most kMaxRidgeUserItems items each, evenly spaced; nothing if none has more.
std::optional<Dataset> with_fewer_items(const Dataset& users) {
  bool too_many = false;
  for (std::size_t user = 0; user < users.size(); ++user)
    too_many = too_many || users.labels(user).size() > kMaxRidgeUserItems;
  if (!too_many) return std::nullopt;
  DatasetArrays rows;
  for (std::size_t user = 0; user < users.size(); ++user) {
    const auto items = users.labels(user);
    const std::size_t count = std::min(items.size(), kMaxRidgeUserItems);
    for (std::size_t i = 0; i < count; ++i) {
      rows.label_ids.push_back(items[i * items.size() / count]);
      rows.feature_ids.push_back(rows.label_ids.back());
      rows.feature_values.push_back(1.0F);
    }
    rows.label_offsets.push_back(rows.label_ids.size());
    rows.feature_offsets.push_back(rows.feature_ids.size());
  }
  return Dataset(std::move(rows), users.feature_count(), users.label_count());
}

}  // namespace

RidgeUsers::RidgeUsers(const Dataset& users)
    : users_(users),
      fewer_(with_fewer_items(users)),
      users_of_(users.size(), users.label_count(), [this](std::size_t user) { return items(user); }) {}

double items_of_user(const Dataset& users) {
  double all = 0;
  for (std::size_t user = 0; user < users.size(); ++user) all += double(users.labels(user).size());
  return all / std::max(1.0, double(users.size()));
}

ItemWeights::ItemWeights(std::size_t items)
    : items_(items), stride_(BlockInverse::stride_of(items)), values_(stride_ * stride_) {}

// Lists: merges the two ascending lists of items.
double ItemWeights::product(std::size_t j, const SparseRow& x) const {
  double sum = 0.0;
  if (dense()) {
    for (std::size_t i = 0; i < x.ids.size(); ++i) sum += double(x.values[i]) * row(j)[x.ids[i]];
    return sum;
  }
  const SparseRow own = list(j);
  for (std::size_t i = 0, k = 0; i < x.ids.size() && k < own.ids.size();) {
    if (x.ids[i] == own.ids[k]) sum += double(x.values[i]) * own.values[k];
    const bool next_x = x.ids[i] <= own.ids[k], next_own = own.ids[k] <= x.ids[i];
    i += next_x ? 1 : 0;
    k += next_own ? 1 : 0;
  }
  return sum;
}

double bytes_of_ridge(std::size_t items) {
  const auto stride = static_cast<double>(BlockInverse::stride_of(items));
  return (stride + BlockInverse::kPivots) * stride * sizeof(float);
}

namespace {

// Moves the rows of the items that have users (stride `packed_stride`, at the beginning of `matrix`) to the
// rows and columns of all items (stride `stride`); all other rows and columns become zeros. In place, from
// the last row.
void spread_rows(std::span<const std::uint32_t> with_users, std::size_t packed_stride, std::size_t items,
                 std::size_t stride, float* matrix) {
  const std::size_t packed = packed_stride * packed_stride;  // padding rows included
  std::vector<float> row(packed_stride);
  std::size_t left = with_users.size();
  for (std::size_t j = items; j-- > 0;) {
    float* const to = matrix + j * stride;
    const bool has_users = left > 0 && with_users[left - 1] == j;
    if (has_users) std::copy_n(matrix + --left * packed_stride, packed_stride, row.begin());
    if (j * stride < packed) std::fill_n(to, std::min(stride, packed - j * stride), 0.0F);
    if (!has_users) continue;
    for (std::size_t i = 0; i < with_users.size(); ++i) to[with_users[i]] = row[i];
  }
}

// matrix [stride x stride] = X^T W X over the items `with_users`, and the identity in the padding; all 0 on
// entry. `place`: by item, its index in `with_users`. Returns the diagonal, without the padding.
std::vector<double> fill_gram_matrix(const RidgeUsers& users, std::span<const std::uint32_t> with_users,
                                     std::span<const std::uint32_t> place, std::size_t stride, int threads,
                                     float* matrix) {
  std::vector<double> diagonal(with_users.size());
  parallel_for((stride + kRows - 1) / kRows, threads, [&](std::size_t task, int) {
    for (std::size_t i = task * kRows; i < std::min(stride, (task + 1) * kRows); ++i) {
      float* row = matrix + i * stride;
      if (i < with_users.size()) {
        add_common_users(users, with_users[i], place, row);
        diagonal[i] = row[i];
      } else {
        row[i] = 1.0F;
      }
    }
  });
  return diagonal;
}

}  // namespace

// Only items with users have a row in the matrix; at last spread_rows() moves them to their places among all
// items.
ItemWeights ridge_of_items(const Dataset& all_users, double penalty, int threads) {
  ItemWeights weights(all_users.label_count());
  const RidgeUsers users(all_users);
  std::vector<std::uint32_t> with_users, place(weights.items_);
  for (std::uint32_t item = 0; item < weights.items_; ++item) {
    place[item] = static_cast<std::uint32_t>(with_users.size());
    if (!users.users_of(item).empty()) with_users.push_back(item);
  }
  const std::size_t items = with_users.size(), stride = BlockInverse::stride_of(items);
  float* matrix = weights.values_.data();
  const std::vector<double> popularity =
      shares_of_mean(fill_gram_matrix(users, with_users, place, stride, threads, matrix));
  // X^T W X + L (item_ridge.h), then its inverse P, then the weights -P_ij / P_jj over popularity^p.
  for (std::size_t i = 0; i < items; ++i) {
    float& square = matrix[i * stride + i];
    const auto own_penalty = static_cast<float>(penalty * std::pow(popularity[i], kPenaltyPower));
    square += std::max(own_penalty, kMinPenalty * square);
  }
  BlockInverse(matrix, stride).run(threads);
  const double power = -factor_power(all_users);
  parallel_for((items + kRows - 1) / kRows, threads, [&](std::size_t task, int) {
    for (std::size_t j = task * kRows; j < std::min(items, (task + 1) * kRows); ++j) {
      float* row = matrix + j * stride;
      const float factor = -static_cast<float>(std::pow(popularity[j], power)) / row[j];
      for (std::size_t i = 0; i < items; ++i) row[i] *= factor;
      row[j] = 0.0F;
    }
  });
  if (items < weights.items_) spread_rows(with_users, stride, weights.items_, weights.stride_, matrix);
  return weights;
}

}  // namespace slide

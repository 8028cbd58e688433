// Item regression (EASE): ridge regression of each item on all other items, in closed form. With P = (X^T W X
// + L)^-1, where X is the binary user-item matrix, the weight of item i for item j is -P_ij / P_jj (Steck,
// "Embarrassingly Shallow Autoencoders for Sparse Data", 2019, section 3). W is diagonal: each user counts
// with 1 / sqrt(number of its items), so that heavy users do not dominate.
//
// An item's popularity, (X^T W X)_ii over its mean over items that occur, enters twice. L is diagonal: the
// penalty times popularity^0.25, between one penalty for all items and the penalty of dropout, which is
// proportional to popularity (Steck, "Autoencoders that don't overfit towards the Identity", 2020, section
// 3). And the weights for an item are divided by popularity^p, with p = 0 where users have 25 items or fewer
// on average, rising towards 0.15 for many items, so that popular items do not dominate the answers.
//
// With too many items for a dense matrix, but few users, the same regression goes through the matrix of the
// users. With too many of both, each item is regressed separately on the items that co-occur with it most.
// These two methods have one penalty for all items.
//
// Pure functions; results do not depend on the number of threads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/statistics/samples_of_labels.h"

namespace slide {

// Max items of the dense method: its matrix then takes 268 MB. More items are regressed on co-occurring
// items.
inline constexpr std::size_t kMaxRidgeItems = 8192;

// Mean number of items per user; 0 without users. The popularity power p rises above 0 from kItemsOfUser on.
double items_of_user(const Dataset& users);
inline constexpr double kItemsOfUser = 25.0;

// Max items of a user that count: the cost of a user is quadratic in them.
inline constexpr std::size_t kMaxRidgeUserItems = 1024;

// The items of each user that count in a regression, the weight of each user, and the users of each item.
// Immutable: safe from any thread.
class RidgeUsers {
 public:
  // `users`: one row per user, with the items as labels; must outlive it.
  explicit RidgeUsers(const Dataset& users);
  std::size_t size() const { return users_.size(); }
  std::size_t item_count() const { return users_.label_count(); }
  std::span<const std::uint32_t> items(std::size_t user) const {
    return (fewer_ ? *fewer_ : users_).labels(user);
  }
  std::span<const std::uint32_t> users_of(std::size_t item) const { return users_of_.of(item); }
  // W_uu: 1 / sqrt(number of all items of the user).
  float weight(std::size_t user) const {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(users_.labels(user).size())));
  }

 private:
  const Dataset& users_;
  std::optional<Dataset> fewer_;  // at most kMaxRidgeUserItems items per user; nullopt if no user has more
  SamplesOfLabels users_of_;
};

// Adds weight(user) of each user that has `item` to sums[i] of each of the user's items i. `met` gets the
// items whose sum is no longer 0. O(items of these users).
template <class Weight>
void add_common(const RidgeUsers& users, std::size_t item, Weight&& weight, std::vector<float>& sums,
                std::vector<std::uint32_t>& met) {
  for (const std::uint32_t user : users.users_of(item)) {
    const float own = weight(user);
    for (const std::uint32_t other : users.items(user)) {
      if (sums[other] == 0.0F) met.push_back(other);
      sums[other] += own;
    }
  }
}

// Weights of all items for each item; the weight of an item for itself is 0. Concurrent reads are safe.
class ItemWeights {
 public:
  // Nonzero weights for one item, by ascending item.
  struct List {
    std::vector<std::uint32_t> ids;
    std::vector<float> weights;
  };
  // Dense rows of zeros.
  explicit ItemWeights(std::size_t items);
  // Lists, one per item; at least one.
  explicit ItemWeights(std::vector<List> lists) : items_(lists.size()), lists_(std::move(lists)) {}

  std::size_t items() const { return items_; }
  // Whether weights are stored as dense rows; else as lists of nonzero weights.
  bool dense() const { return lists_.empty(); }
  // Weights of the items for item j, [items]; only if dense().
  std::span<const float> row(std::size_t j) const { return {values_.data() + j * stride_, items_}; }
  // Nonzero weights for item j, by ascending item; only if not dense().
  SparseRow list(std::size_t j) const { return {lists_[j].ids, lists_[j].weights}; }
  // Dot product of the weights for item j and `x`.
  double product(std::size_t j, const SparseRow& x) const;

  // Writable, by the functions that make weights.
  std::span<float> row(std::size_t j) { return {values_.data() + j * stride_, items_}; }
  List& list_of(std::size_t j) { return lists_[j]; }

 private:
  friend ItemWeights ridge_of_items(const Dataset&, double, int);

  std::size_t items_ = 0, stride_ = 0;
  AlignedArray<float> values_;  // [stride x stride]
  std::vector<List> lists_;     // [items], or empty
};

// Dense method, O(items^3), at most kMaxRidgeItems items. `users`: one row per user, with the items both as
// features and as labels. `penalty` > 0, in users.
ItemWeights ridge_of_items(const Dataset& users, double penalty, int threads);

// Sparse method, any number of items: each item is regressed on the `limit` items that share most users with
// it (weighted), ties by item number.
ItemWeights ridge_of_cooccurring(const Dataset& users, double penalty, std::size_t limit, int threads);

// Exact method by users, any number of items, at most kMaxRidgeItems users: each item is regressed on all
// others, with one penalty for all, through the matrix of the users: (X^T W X + l I)^-1 = (I - X^T (l W^-1 +
// X X^T)^-1 X) / l (Woodbury). Keeps the `limit` weights of each item with the largest absolute values.
// O(users^3 + items * entries).
ItemWeights ridge_by_users(const Dataset& users, double penalty, std::size_t limit, int threads);

// Peak memory of the methods in bytes, result included. `pairs`: sum over users of the squared number of
// items.
double bytes_of_ridge(std::size_t items);
double bytes_of_ridge_by_users(std::size_t users, std::size_t items, std::size_t limit, int threads);
double bytes_of_sparse_ridge(std::size_t items, double pairs, std::size_t limit, int threads);

}  // namespace slide

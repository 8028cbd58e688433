// Ridge regression of each item on all others, in closed form: of P = (X^T W X + L)^-1, where X tells which
// user has which item, the weight of item i for item j is -P_ij / P_jj (Steck, "Embarrassingly Shallow
// Autoencoders for Sparse Data", 2019, section 3). W weighs a user by the inverse root of the number of its
// items, so that those who have much of everything tell less.
//
// An item's popularity, (X^T W X)_ii over the mean of those that somebody has, matters twice: L is diagonal,
// the penalty times the 0.25th power of it (between one penalty for all and that of dropout,
// which grows in proportion: Steck, "Autoencoders that don't overfit towards the Identity", 2020, section 3),
// and the weights for an item are divided by a power of it that is 0 where users have 25 items or less in the
// mean and nears 0.15 where they have many, so that what is popular does not answer everything.
//
// With too many items for that, each is regressed on the items that most of its users have besides, by
// itself, with one penalty for all, as suits logs where users have few of many items.
//
// Pure functions of their arguments, whatever the threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"

namespace slide {

// With more, the matrix of all pairs would be too large: of this many, it has 268 MB. They are regressed each
// on its co-occurring items.
inline constexpr std::size_t kMaxRidgeItems = 8192;

// Items that a user has in the mean; 0 of no users. From kItemsOfUser on it has many.
double items_of_user(const Dataset& users);
inline constexpr double kItemsOfUser = 25.0;

// Weights of all items for each item, those of an item for itself 0.
class ItemWeights {
 public:
  explicit ItemWeights(std::size_t items);

  std::size_t items() const { return items_; }
  // Whether all weights are there as rows; else as lists, of those that are not 0.
  bool dense() const { return lists_.empty(); }
  // Of the items for item j [items], where they are dense.
  std::span<const float> row(std::size_t j) const { return {values_.data() + j * stride_, items_}; }
  // The same as a list, by ascending item, where they are not.
  SparseRow list(std::size_t j) const { return {lists_[j].ids, lists_[j].weights}; }
  // The weights for item j times `x`.
  double product(std::size_t j, const SparseRow& x) const;

 private:
  struct List {
    std::vector<std::uint32_t> ids;
    std::vector<float> weights;
  };
  ItemWeights() = default;
  friend ItemWeights ridge_of_items(const Dataset&, double, int);
  friend ItemWeights ridge_of_cooccurring(const Dataset&, double, std::size_t, int);

  std::size_t items_ = 0, stride_ = 0;
  AlignedArray<float> values_;  // [stride x stride]
  std::vector<List> lists_;     // [items], or none
};

// `users`: a row a user, whose items are its features and its labels; at most kMaxRidgeItems of them.
// `penalty` > 0, in users.
ItemWeights ridge_of_items(const Dataset& users, double penalty, int threads);

// Any number of items, each regressed on the `most` items with which it has most users in common, weighted,
// ties by number.
ItemWeights ridge_of_cooccurring(const Dataset& users, double penalty, std::size_t most, int threads);

// Bytes that they take at most while they run, the result among them. `pairs`: of the items of each user, all
// of them and with themselves.
double bytes_of_ridge(std::size_t items);
double bytes_of_sparse_ridge(std::size_t items, double pairs, std::size_t most, int threads);

}  // namespace slide

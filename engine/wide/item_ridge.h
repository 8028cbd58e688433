// Ridge regression of each item on all others, in closed form: of P = (X^T W X + penalty I)^-1, where X tells
// which user has which item, the weight of item i for item j is -P_ij / P_jj (Steck, "Embarrassingly Shallow
// Autoencoders for Sparse Data", 2019, section 3). W weighs a user by the inverse root of the number of its
// items, so that those who have much of everything tell less.
//
// Pure functions of their arguments, whatever the threads.
#pragma once

#include <cstddef>
#include <span>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"

namespace slide {

// With more, the matrix of all pairs would be too large: of this many, it has 268 MB.
inline constexpr std::size_t kMostRidgeItems = 8192;

// Weights of all items for each item.
class ItemWeights {
 public:
  explicit ItemWeights(std::size_t items);

  std::size_t items() const { return items_; }
  // Of the items for item j [items]; 0 for itself.
  std::span<const float> row(std::size_t j) const { return {values_.data() + j * stride_, items_}; }

 private:
  friend ItemWeights ridge_of_items(const Dataset&, double, int);

  std::size_t items_, stride_;
  AlignedArray<float> values_;  // [stride x stride]
};

// `users`: a row a user, whose items are its features and its labels; at most kMostRidgeItems of them.
// `penalty` > 0, in users.
ItemWeights ridge_of_items(const Dataset& users, double penalty, int threads);

}  // namespace slide

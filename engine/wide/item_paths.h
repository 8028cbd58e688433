// Weights of items for items by paths from item to user to item (item_fit.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/wide/item_ridge.h"

namespace slide {

// Exponents of the numbers of users of the item that a path begins at and of that which it leads to.
struct PathPowers {
  double from = 0, to = 0;
};

// Scores of all items by paths from some. Immutable: safe from any thread.
class Paths {
 public:
  // `users` must outlive it.
  Paths(const RidgeUsers& users, const PathPowers& powers);

  // Overwrites `scores` [items]. `reached` [users]: 0 between calls; `met`: scratch. O(users of the known
  // items and their items).
  void score(std::span<const std::uint32_t> known, std::vector<float>& reached,
             std::vector<std::uint32_t>& met, std::vector<float>& scores) const;
  // Adds the weights to item `to`, without its own, times `factor` to sums [items], all 0; `met`: the items
  // of those that are not 0.
  void sum(std::size_t to, float factor, std::vector<float>& sums, std::vector<std::uint32_t>& met) const;

 private:
  const RidgeUsers& users_;
  std::vector<float> from_, to_;  // by item
};

// Adds `factor` times the weights of paths to `weights`; if `weights` are lists, only the `limit` largest of
// each item.
void add_paths(const Dataset& users, double factor, const PathPowers& powers, std::size_t limit, int threads,
               ItemWeights& weights);

}  // namespace slide

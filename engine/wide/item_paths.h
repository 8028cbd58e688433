// Item-item weights by paths item - user - item (formula: item_fit.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/wide/item_ridge.h"

namespace slide {

// Exponents of the number of users of a path's first item (a of item_fit.h) and of its last item (b).
struct PathPowers {
  double from = 0, to = 0;
};

// Weights of paths in the graph of users and items. Immutable: safe from any thread.
class Paths {
 public:
  // `users` must outlive it.
  Paths(const RidgeUsers& users, const PathPowers& powers);

  // scores[j] = sum over the known items i of the weight of i for j. `scores`: [items]. `reached`, `met`:
  // working memory; reached [users] is 0 between calls. O(users of the known items and their items).
  void score(std::span<const std::uint32_t> known, std::vector<float>& reached,
             std::vector<std::uint32_t>& met, std::vector<float>& scores) const;
  // sums[i] = `factor` times the weight of i for item `to`, for all other items i with a common user, which
  // `met` lists. sums [items] is all 0 on entry.
  void weights_for(std::size_t to, float factor, std::vector<float>& sums,
                   std::vector<std::uint32_t>& met) const;

 private:
  const RidgeUsers& users_;
  std::vector<float> from_, to_;  // by item: number of its users to the power -a, -b
};

// Adds `factor` times the path weights to `weights`; where `weights` are lists, only the `limit` largest path
// weights for each item.
void add_paths(const Dataset& users, double factor, const PathPowers& powers, std::size_t limit, int threads,
               ItemWeights& weights);

}  // namespace slide

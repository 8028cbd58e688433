// Users with items, for tests of what relates items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/rng.h"

namespace slide {

// Adds a user with these items, ascending, as features and labels.
inline void add_user(DatasetArrays& arrays, const std::vector<std::uint32_t>& own) {
  for (const std::uint32_t item : own) {
    arrays.feature_ids.push_back(item);
    arrays.feature_values.push_back(1.0F);
    arrays.label_ids.push_back(item);
  }
  arrays.feature_offsets.push_back(arrays.feature_ids.size());
  arrays.label_offsets.push_back(arrays.label_ids.size());
}

// `count` users with some of `items` items each; no user has the last item.
inline Dataset some_users(std::size_t count, std::uint32_t items, std::uint64_t seed) {
  Rng rng(seed, Purpose::kTest);
  DatasetArrays arrays;
  for (std::size_t u = 0; u < count; ++u) {
    std::vector<std::uint32_t> own;
    for (std::uint32_t i = 0; i < 2 + rng.below(12); ++i) own.push_back(rng.below(items - 1));
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    add_user(arrays, own);
  }
  return {std::move(arrays), items, items};
}

}  // namespace slide

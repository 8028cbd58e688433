#include "datasets/rows/shuffle.h"

#include <numeric>
#include <utility>

#include "engine/base/rng.h"

namespace slide {

void shuffle_order(std::span<std::uint32_t> order, std::uint64_t seed, std::uint64_t epoch) {
  std::iota(order.begin(), order.end(), 0U);
  Rng rng(seed, Purpose::kShuffle, epoch);
  for (auto left = static_cast<std::uint32_t>(order.size()); left > 1; --left) {
    std::swap(order[left - 1], order[rng.below(left)]);
  }
}

}  // namespace slide

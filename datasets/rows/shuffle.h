// Order of the samples in an epoch. A pure function, safe from any thread.
#pragma once

#include <cstdint>
#include <span>

namespace slide {

// Fills `order` with a uniformly random permutation of 0 .. order.size() - 1, from (seed, epoch).
void shuffle_order(std::span<std::uint32_t> order, std::uint64_t seed, std::uint64_t epoch);

}  // namespace slide

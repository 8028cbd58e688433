// The order in which an epoch visits the samples. A pure function of its arguments, safe from any thread.
#pragma once

#include <cstdint>
#include <span>

namespace slide {

// Fills `order` with a permutation of 0 .. order.size() - 1 drawn from (seed, epoch), uniform over all
// permutations up to the quality of the random stream.
void shuffle_order(std::span<std::uint32_t> order, std::uint64_t seed, std::uint64_t epoch);

}  // namespace slide

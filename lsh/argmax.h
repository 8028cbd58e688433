// The argmax of winner-take-all hashing, for all columns of a block at once. Pure function, safe from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slide::lsh {

inline constexpr std::uint32_t kNowhere = UINT32_MAX;  // position of the maximum of an empty set

// where[b] = argmax over i < width of xt[features[i]*lanes + b]; ties: the lowest i. `skip_zeros` ignores
// zeros; where[b] is kNowhere for columns of zeros only. Layout as in QueryBlock. O(width * lanes).
void argmax_lanes(const float* xt, std::size_t lanes, const std::uint32_t* features, std::size_t width,
                  bool skip_zeros, std::uint32_t* where);

}  // namespace slide::lsh

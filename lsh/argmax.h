// The comparison inside winner-take-all hashing, for all lanes of a block at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slide::lsh {

inline constexpr std::uint32_t kNowhere = UINT32_MAX;  // position of the largest of no values

// where[b] = i of the largest xt[features[i]*lanes + b], i < width, the first of equals. With `skip_zeros`
// zeros are not looked at: where[b] is kNowhere when there is nothing else. Lanes as in QueryBlock.
void argmax_lanes(const float* xt, std::size_t lanes, const std::uint32_t* features, std::size_t width,
                  bool skip_zeros, std::uint32_t* where);

}  // namespace slide::lsh

#include "lsh/argmax.h"

#include <algorithm>
#include <bit>

#include "engine/kernels/kernels.h"

namespace slide::lsh {

namespace {

// An integer with the order of the float; both zeros become 0. Compilers vectorise integer comparisons and
// selections for every instruction set.
std::int32_t order_key(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value + 0.0F);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

// All ones where the condition holds.
std::int32_t mask(bool condition) {
  return -static_cast<std::int32_t>(condition);
}

// argmax_lanes() of kLanes columns from xt on. Branch-free over the columns b: masks select the larger key.
template <bool kSkipZeros, std::size_t kLanes>
void argmax(const float* xt, std::size_t lanes, const std::uint32_t* features, std::size_t width,
            std::uint32_t* where) {
  std::int32_t best[kLanes], index[kLanes];
  std::fill_n(best, kLanes, INT32_MIN);
  std::fill_n(index, kLanes, kSkipZeros ? static_cast<std::int32_t>(kNowhere) : 0);
  for (std::size_t i = 0; i < width; ++i) {
    const float* x = xt + features[i] * lanes;
    const auto here = static_cast<std::int32_t>(i);
    for (std::size_t b = 0; b < kLanes; ++b) {
      std::int32_t key = order_key(x[b]);
      if (kSkipZeros) key |= mask(key == 0) & INT32_MIN;
      const std::int32_t larger = mask(key > best[b]);
      best[b] = (key & larger) | (best[b] & ~larger);
      index[b] = (here & larger) | (index[b] & ~larger);
    }
  }
  for (std::size_t b = 0; b < kLanes; ++b) where[b] = static_cast<std::uint32_t>(index[b]);
}

template <bool kSkipZeros>
void argmax_all(const float* xt, std::size_t lanes, const std::uint32_t* features, std::size_t width,
                std::uint32_t* where) {
  if (lanes == 1) return argmax<kSkipZeros, 1>(xt, lanes, features, width, where);
  for (std::size_t b = 0; b < lanes; b += kernels::kLaneMultiple) {
    argmax<kSkipZeros, kernels::kLaneMultiple>(xt + b, lanes, features, width, where + b);
  }
}

}  // namespace

void argmax_lanes(const float* xt, std::size_t lanes, const std::uint32_t* features, std::size_t width,
                  bool skip_zeros, std::uint32_t* where) {
  if (skip_zeros) {
    argmax_all<true>(xt, lanes, features, width, where);
  } else {
    argmax_all<false>(xt, lanes, features, width, where);
  }
}

}  // namespace slide::lsh

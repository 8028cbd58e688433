#include "lsh/argmax.h"

#include <algorithm>
#include <limits>

namespace slide::lsh {

namespace {

template <bool kSkipZeros>
void argmax(const float* xt, std::size_t lanes, const std::uint32_t* features, std::size_t width, float* best,
            std::uint32_t* where) {
  for (std::size_t i = 0; i < width; ++i) {
    const float* x = xt + features[i] * lanes;
    const auto here = static_cast<std::uint32_t>(i);
    for (std::size_t b = 0; b < lanes; ++b) {
      const float value = kSkipZeros && x[b] == 0.0F ? -std::numeric_limits<float>::infinity() : x[b];
      const bool larger = value > best[b];
      best[b] = larger ? value : best[b];
      where[b] = larger ? here : where[b];
    }
  }
}

}  // namespace

void argmax_lanes(const float* xt, std::size_t lanes, const std::uint32_t* features, std::size_t width,
                  bool skip_zeros, float* best, std::uint32_t* where) {
  std::fill_n(best, lanes, -std::numeric_limits<float>::infinity());
  std::fill_n(where, lanes, skip_zeros ? kNowhere : 0U);
  if (skip_zeros) {
    argmax<true>(xt, lanes, features, width, best, where);
  } else {
    argmax<false>(xt, lanes, features, width, best, where);
  }
}

}  // namespace slide::lsh

// Sampling from power laws over many items without tables. Immutable values, safe from any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "engine/base/rng.h"

namespace slide {

// Ranks 0 .. items - 1 with probability approximately proportional to (rank + 1)^-exponent: the floor of a
// continuous power law on [1, items + 1), by inversion of its distribution function. O(1) time, no memory.
class PowerLaw {
 public:
  PowerLaw(std::uint32_t items, double exponent)
      : items_(items),
        power_(1.0 - exponent),
        span_(is_logarithmic() ? std::log(end()) : std::pow(end(), power_) - 1) {}

  // `uniform` in [0, 1).
  std::uint32_t rank(double uniform) const {
    const double x = is_logarithmic() ? std::exp(uniform * span_) : std::pow(1 + uniform * span_, 1 / power_);
    return std::min(static_cast<std::uint32_t>(std::max(x, 1.0) - 1), items_ - 1);
  }

 private:
  double end() const { return static_cast<double>(items_) + 1; }
  bool is_logarithmic() const { return std::abs(power_) < 1e-9; }

  std::uint32_t items_;
  double power_;
  double span_;
};

// A fixed pseudo-random permutation of 0 .. items - 1, so that ids do not reveal ranks.
class IdScramble {
 public:
  IdScramble(std::uint32_t items, std::uint64_t seed, std::uint64_t use) : items_(items) {
    Rng rng(seed, Purpose::kGenerator, use);
    offset_ = rng.below(items);
    do {
      factor_ = rng.below(items) + std::uint64_t{1};
    } while (std::gcd(factor_, items_) != 1);
  }
  std::uint32_t operator()(std::uint32_t rank) const {
    return static_cast<std::uint32_t>((factor_ * rank + offset_) % items_);
  }

 private:
  std::uint64_t items_;
  std::uint64_t offset_ = 0;
  std::uint64_t factor_ = 1;
};

}  // namespace slide

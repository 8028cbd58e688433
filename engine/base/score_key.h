// Scores as unsigned integers that ascend as the scores descend. Pure functions.
#pragma once

#include <bit>
#include <cstdint>

namespace slide {

// Flips the lower 31 bits of a score with sign +: larger scores get smaller keys. Negative scores keep their
// bits, which ascend with their magnitude, behind all others. -0 and +0 have adjacent keys; the key of +0 is
// the smaller.
inline std::uint32_t key_of_score(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score);
  const auto flip = static_cast<std::uint32_t>(~static_cast<std::int32_t>(bits) >> 31) >> 1;
  return bits ^ flip;
}

// Inverse of key_of_score().
inline float score_of_key(std::uint32_t key) {
  const auto flip = static_cast<std::uint32_t>(~static_cast<std::int32_t>(key) >> 31) >> 1;
  return std::bit_cast<float>(key ^ flip);
}

}  // namespace slide

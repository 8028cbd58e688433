// Random number streams (SplitMix64). Each stream is derived from (seed, purpose, step, item), never from
// time or thread, so that runs are reproducible with any number of threads. A stream is an eight-byte value;
// construct it where needed. Not thread-safe; independent streams are.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace slide {

// Purpose of a stream, part of its key, so that two uses never share numbers. Values are stored in models:
// append, never renumber.
enum class Purpose : std::uint64_t {
  kWeights = 1,
  kShuffle = 2,
  kHashFunctions = 3,
  kSampling = 4,
  kDropout = 5,
  kBuckets = 6,
  kGenerator = 7,
  kProbe = 8,
  kTest = 9,
  kTune = 10,
  kRounding = 11,
  kDeltas = 12,
  kStart = 13,
  kResampling = 14,
  kMasking = 15,
  kPermutation = 16,
};

// SplitMix64's finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014, fig.
// 15).
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class Rng {
 public:
  constexpr Rng(std::uint64_t seed, Purpose purpose, std::uint64_t step = 0, std::uint64_t item = 0)
      : state_(
            mix64(mix64(mix64(mix64(seed + kGamma) + static_cast<std::uint64_t>(purpose) * kGamma) + step) +
                  item * kGamma)) {}

  constexpr std::uint64_t next() { return mix64(state_ += kGamma); }

  // Skips `count` numbers in constant time.
  constexpr void skip(std::uint64_t count) { state_ += count * kGamma; }

  // Uniform integer in [0, bound), bound >= 1, by multiply and shift; bias below bound / 2^32.
  constexpr std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }
  // Uniform in [0, 1).
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Standard normal, by the Box-Muller transform.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  static constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_;
};

}  // namespace slide

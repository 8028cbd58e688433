// Random permutations of the features, cut into bins, one bin per hash function: shared by the densified
// one-permutation families (DWTA, MinHash). One permutation gives many bins, so hashing a vector reads each
// of its values about once, not once per hash function.
//
// With more than bins * bin_size features, a bin holds more than bin_size features and several positions
// share a code: all features take part, except a remainder of less than one feature per bin. Invariant:
// immutable between calls of draw(). Const calls are thread-safe; draw() runs alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/rng.h"

namespace slide::lsh {

class FeatureBins {
 public:
  // `bins` bins over features [0, dim), codes in [0, bin_size).
  FeatureBins(std::size_t bins, std::size_t bin_size, std::size_t dim);

  // New permutations. O(dim * permutations).
  void draw(Rng rng);

  std::size_t bins() const { return bins_; }
  std::size_t width() const { return width_; }  // features in a bin
  std::span<const std::uint32_t> features(std::size_t bin) const {
    return {features_.data() + bin * width_, width_};
  }
  // Calls visit(bin, position in the bin) for each bin of `feature`.
  template <class F>
  void for_each_bin(std::uint32_t feature, F&& visit) const {
    for (std::size_t p = 0; p < permutations_; ++p) {
      const std::uint32_t place = places_[feature * permutations_ + p];
      if (place != kUnused) visit(place / width_, static_cast<std::uint32_t>(place % width_));
    }
  }
  // Code of a position: the position modulo bin_size, all codes equally likely (as in b-bit minwise hashing,
  // Li and Koenig 2010).
  std::uint32_t code(std::uint32_t position) const {
    return static_cast<std::uint32_t>(position < bin_size_ ? position : position % bin_size_);
  }

  // Densification: the bin that the empty `bin` borrows from at this attempt, by a 2-universal hash function
  // of both (Shrivastava 2017; multiply-shift by Dietzfelbinger 1996). It may be empty too: try the next
  // attempt.
  static constexpr std::uint32_t kAttempts = 64;
  std::size_t donor(std::size_t bin, std::uint32_t attempt) const {
    const std::uint64_t key = bin * kAttempts + attempt;
    return ((multiplier_ * key + offset_) >> 32) * bins_ >> 32;
  }

  // Fingerprint of one table: K codes of `bits` bits from positions[bin] (kNowhere: an empty bin, which
  // borrows).
  std::uint32_t pack(const std::uint32_t* positions, std::size_t table, std::size_t k,
                     std::uint32_t bits) const;

  std::size_t bytes() const { return (features_.size() + places_.size()) * sizeof(std::uint32_t); }

 private:
  static constexpr std::uint32_t kUnused = UINT32_MAX;

  std::size_t bins_;
  std::size_t bin_size_;
  std::size_t dim_;
  std::size_t width_;
  std::size_t permutations_;
  std::vector<std::uint32_t> features_;  // [bins][width_]
  std::vector<std::uint32_t> places_;    // [dim][permutations_]: index into features_, or kUnused
  std::uint64_t multiplier_ = 1;
  std::uint64_t offset_ = 0;
};

}  // namespace slide::lsh

// Bitmap sort of a few distinct ids below n, with a two-level bitmap: O(k + n / 4096) for k ids.
//
// Not thread-safe; no state remains between calls.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace slide {

class IdOrder {
 public:
  // Sorts ids below `count`.
  explicit IdOrder(std::size_t count) : words_(count / kBits + 1, 0), above_(words_.size() / kBits + 1, 0) {}

  // Sorts distinct ids, ascending: sets a bit for each id and for each word with a bit, then visits the bits.
  void sort(std::vector<std::uint32_t>& ids) {
    for (const std::uint32_t id : ids) {
      words_[id / kBits] |= std::uint64_t{1} << id % kBits;
      above_[id / kBits / kBits] |= std::uint64_t{1} << id / kBits % kBits;
    }
    auto out = ids.begin();
    for (std::size_t a = 0; a < above_.size(); ++a) {
      for (; above_[a] != 0; above_[a] &= above_[a] - 1) {
        const std::size_t w = a * kBits + static_cast<std::size_t>(std::countr_zero(above_[a]));
        for (; words_[w] != 0; words_[w] &= words_[w] - 1)
          *out++ =
              static_cast<std::uint32_t>(w * kBits + static_cast<std::size_t>(std::countr_zero(words_[w])));
      }
    }
  }

 private:
  static constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> words_, above_;  // zero between calls
};

}  // namespace slide

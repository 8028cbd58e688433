// A set of neuron ids with O(1) insert, lookup and clear: de-duplicates an active set.
// Not thread-safe: one per thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/base/aligned.h"

namespace slide::lsh {

class IdSet {
 public:
  explicit IdSet(std::size_t ids = 0) : stamps_(ids) {}

  static std::size_t bytes_of(std::size_t ids) { return ids * sizeof(std::uint32_t); }
  std::size_t capacity() const { return stamps_.size(); }
  bool contains(std::uint32_t id) const { return stamps_[id] == round_; }
  // True if `id` is new. id < capacity().
  bool insert(std::uint32_t id) {
    if (stamps_[id] == round_) return false;
    stamps_[id] = round_;
    return true;
  }
  void clear() {
    if (++round_ != 0) return;
    std::fill(stamps_.begin(), stamps_.end(), 0u);  // once in 2^32 rounds
    round_ = 1;
  }

 private:
  AlignedArray<std::uint32_t> stamps_;
  std::uint32_t round_ = 1;
};

}  // namespace slide::lsh

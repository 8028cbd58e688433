// The rows of a layer whose weights changed since they were filed in the hash tables, those that wait longest
// first.
//
// add() may run for different shards, and so different rows, at once; everything else alone. After prepare()
// nothing is allocated. What take() returns does not depend on the number of shards.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"

namespace slide {

class StaleRows {
 public:
  // None of `rows` rows is stale.
  void prepare(std::size_t rows, std::uint32_t shards);

  // `row` was updated by the shard that owns it.
  void add(std::uint32_t row, std::uint32_t shard) {
    ++shards_[shard].updates;
    if (is_stale_[row] != 0) return;
    is_stale_[row] = 1;
    recent_[std::atomic_ref(recent_count_).fetch_add(1, std::memory_order_relaxed)] = row;
  }

  // The rows to be filed now, ascending, which are stale no longer: as many as `share` of the updates since
  // the last call, rounded up, and those that wait longest, of one call's updates those of the lowest ids.
  // Valid until the next call.
  std::span<const std::uint32_t> take(double share);
  // All rows were filed.
  void clear();

  static std::size_t bytes_of(std::size_t rows, std::uint32_t shards);  // of prepare()

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  struct alignas(kAlignment) Shard {
    std::uint64_t updates = 0;
  };
  void gather(std::vector<std::uint32_t>& to) const;

  AlignedArray<std::uint8_t> is_stale_;
  std::vector<Shard> shards_;
  std::vector<std::uint32_t> recent_;  // became stale since the last take(), in any order
  alignas(kAlignment) std::size_t recent_count_ = 0;
  std::vector<std::uint32_t> waiting_;  // from first_ on, in order of take()
  std::size_t first_ = 0;
};

}  // namespace slide

// The queue of the rows whose weights changed since they were last hashed; longest waiting first.
//
// Invariants: a row is in the queue at most once. take() does not depend on the number of shards.
// Thread safety: add() may run in parallel for different shards, which own different rows; other calls run
// alone. Nothing is allocated after prepare().
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
  // An empty queue for `rows` rows.
  void prepare(std::size_t rows, std::uint32_t shards);

  // Shard `shard`, which owns `row`, updated it. O(1).
  void add(std::uint32_t row, std::uint32_t shard) {
    ++shards_[shard].updates;
    if (is_stale_[row] != 0) return;
    is_stale_[row] = 1;
    recent_[std::atomic_ref(recent_count_).fetch_add(1, std::memory_order_relaxed)] = row;
  }

  // Removes and returns the rows to rehash, ascending: up to ceil(share * updates since the last call),
  // longest waiting first, ties by lowest id. Valid until the next call. O(n log n) in the stale rows.
  std::span<const std::uint32_t> take(double share);
  // Empties the queue, after all rows were hashed.
  void clear();

  static std::size_t bytes_of(std::size_t rows, std::uint32_t shards);  // memory after prepare()

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  struct alignas(kAlignment) Shard {
    std::uint64_t updates = 0;
  };
  void gather(std::vector<std::uint32_t>& to) const;

  AlignedArray<std::uint8_t> is_stale_;
  std::vector<Shard> shards_;
  std::vector<std::uint32_t> recent_;  // stale since the last take(), unordered
  alignas(kAlignment) std::size_t recent_count_ = 0;
  std::vector<std::uint32_t> waiting_;  // the rows of the last take(), then the queue from first_ on
  std::size_t first_ = 0;
};

}  // namespace slide

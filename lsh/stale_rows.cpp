#include "lsh/stale_rows.h"

#include <algorithm>
#include <cmath>

namespace slide {

void StaleRows::prepare(std::size_t rows, std::uint32_t shards) {
  is_stale_ = AlignedArray<std::uint8_t>(rows);
  shards_.assign(shards, {});
  for (Shard& shard : shards_) shard.rows.reserve(rows);
  waiting_.clear();
  waiting_.reserve(rows);
  first_ = 0;
}

// Appends what became stale since the last take(), ascending: shards depend on the thread count.
void StaleRows::gather(std::vector<std::uint32_t>& to) const {
  const auto old = static_cast<std::ptrdiff_t>(to.size());
  for (const Shard& shard : shards_) to.insert(to.end(), shard.rows.begin(), shard.rows.end());
  std::sort(to.begin() + old, to.end());
}

std::span<const std::uint32_t> StaleRows::take(double share) {
  // A row waits once, so what was taken makes room for what comes.
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
  gather(waiting_);
  std::uint64_t updates = 0;
  for (Shard& shard : shards_) {
    updates += shard.updates;
    shard.rows.clear();
    shard.updates = 0;
  }
  const double wanted = std::ceil(share * double(updates));
  first_ = wanted < double(waiting_.size()) ? static_cast<std::size_t>(wanted) : waiting_.size();
  for (std::size_t i = 0; i < first_; ++i) is_stale_[waiting_[i]] = 0;
  std::sort(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
  return {waiting_.data(), first_};
}

void StaleRows::clear() {
  std::fill(is_stale_.begin(), is_stale_.end(), std::uint8_t{0});
  for (Shard& shard : shards_) {
    shard.rows.clear();
    shard.updates = 0;
  }
  waiting_.clear();
  first_ = 0;
}

std::size_t StaleRows::bytes_of(std::size_t rows, std::uint32_t shards) {
  return rows + (std::size_t{shards} + 1) * rows * sizeof(std::uint32_t);
}

void StaleRows::save(ByteWriter& out) const {
  std::uint64_t updates = 0;
  for (const Shard& shard : shards_) updates += shard.updates;
  std::vector<std::uint32_t> recent;
  gather(recent);
  out.put(updates);
  out.put_array(waiting_.data() + first_, waiting_.size() - first_);
  out.put_array(recent.data(), recent.size());
}

void StaleRows::load(ByteReader& in) {
  clear();
  shards_.front().updates = in.get<std::uint64_t>();
  in.get_vector(waiting_);
  in.get_vector(shards_.front().rows);
  for (const auto* rows : {&waiting_, &shards_.front().rows}) {
    for (const std::uint32_t row : *rows) {
      if (row >= is_stale_.size() || is_stale_[row] != 0) in.refuse("impossible stale rows");
      is_stale_[row] = 1;
    }
  }
  waiting_.reserve(is_stale_.size());
  shards_.front().rows.reserve(is_stale_.size());
}

}  // namespace slide

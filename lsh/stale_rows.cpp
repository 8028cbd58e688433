#include "lsh/stale_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace slide {

void StaleRows::prepare(std::size_t rows, std::uint32_t shards) {
  is_stale_ = AlignedArray<std::uint8_t>(rows);
  shards_.assign(shards, {});
  recent_.resize(rows);
  recent_count_ = 0;
  waiting_.clear();
  waiting_.reserve(rows);
  first_ = 0;
}

// Appends the rows that became stale since the last take(), ascending.
void StaleRows::gather(std::vector<std::uint32_t>& to) const {
  const auto size_before = static_cast<std::ptrdiff_t>(to.size());
  to.insert(to.end(), recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(recent_count_));
  std::sort(to.begin() + size_before, to.end());
}

// Queues the recent rows behind the waiting ones, then takes rows from the front.
std::span<const std::uint32_t> StaleRows::take(double share) {
  // Each row is queued at most once: erasing the taken rows leaves capacity for the new ones.
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
  gather(waiting_);
  recent_count_ = 0;
  std::uint64_t updates = 0;
  for (Shard& shard : shards_) updates += std::exchange(shard.updates, 0);
  const double wanted = std::ceil(share * double(updates));
  first_ = wanted < double(waiting_.size()) ? static_cast<std::size_t>(wanted) : waiting_.size();
  for (std::size_t i = 0; i < first_; ++i) is_stale_[waiting_[i]] = 0;
  std::sort(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
  return {waiting_.data(), first_};
}

void StaleRows::clear() {
  std::fill(is_stale_.begin(), is_stale_.end(), std::uint8_t{0});
  for (Shard& shard : shards_) shard.updates = 0;
  recent_count_ = 0;
  waiting_.clear();
  first_ = 0;
}

std::size_t StaleRows::bytes_of(std::size_t rows, std::uint32_t shards) {
  return rows + 2 * rows * sizeof(std::uint32_t) + shards * sizeof(Shard);
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

// Sets the flag of each row; a row that occurs twice is damage.
void StaleRows::load(ByteReader& in) {
  clear();
  shards_.front().updates = in.get<std::uint64_t>();
  in.get_vector(waiting_);
  std::vector<std::uint32_t> recent;
  in.get_vector(recent);
  for (const auto* rows : {&waiting_, &recent}) {
    for (const std::uint32_t row : *rows) {
      if (row >= is_stale_.size() || is_stale_[row] != 0) in.refuse("impossible stale rows");
      is_stale_[row] = 1;
    }
  }
  waiting_.reserve(is_stale_.size());
  std::ranges::copy(recent, recent_.begin());
  recent_count_ = recent.size();
}

}  // namespace slide

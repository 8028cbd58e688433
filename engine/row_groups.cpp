#include "engine/row_groups.h"

#include <algorithm>

#include "engine/base/prefetch.h"

namespace slide {

void RowGroups::reserve(std::size_t capacity) {
  rows_.reserve(capacity + 1);
  offsets_.reserve(capacity + 2);
  slot_of_.reserve(capacity);
  sources_.reserve(capacity);
  values_.reserve(capacity);
}

void RowGroups::build(std::span<const std::span<const Contribution>> parts, std::uint64_t* slots) {
  constexpr std::size_t kAhead = 16;  // contributions
  std::size_t total = 0;
  for (const auto& part : parts) total += part.size();
  rows_.resize(total + 1);
  offsets_.resize(total + 2);
  slot_of_.resize(total);
  sources_.resize(total);
  values_.resize(total);
  // Counts into offsets_[slot + 1]. Whether a row is new is as good as random, so no branch depends on it:
  // the place behind the last group takes every row, and becomes a group of its own only when the row is new.
  const std::uint64_t stamp = std::uint64_t{++stamp_} << 32;
  std::uint32_t groups = 0;
  std::size_t i = 0;
  for (const auto& part : parts) {
    for (std::size_t at = 0; at < part.size(); ++at) {
      if (at + kAhead < part.size()) prefetch<Access::kWrite>(slots + part[at + kAhead].row);
      const Contribution& c = part[at];
      const std::uint64_t known = slots[c.row];
      const bool fresh = (known ^ stamp) >> 32 != 0;
      const auto slot = fresh ? groups : static_cast<std::uint32_t>(known);
      rows_[groups] = c.row;
      offsets_[groups + 1] = 0;
      ++offsets_[slot + 1];
      slots[c.row] = stamp | slot;
      slot_of_[i++] = slot;
      groups += fresh ? 1 : 0;
    }
  }
  rows_.resize(groups);
  offsets_.resize(groups + 1);
  offsets_[0] = 0;
  // offsets_[slot + 1] becomes the start of group `slot` and, after filling, its end.
  std::uint32_t start = 0;
  for (std::size_t slot = 0; slot < groups; ++slot) start += std::exchange(offsets_[slot + 1], start);
  i = 0;
  for (const auto& part : parts) {
    for (const Contribution& c : part) {
      const std::size_t at = offsets_[slot_of_[i++] + 1]++;
      sources_[at] = c.source;
      values_[at] = c.value;
    }
  }
}

}  // namespace slide

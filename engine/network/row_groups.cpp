#include "engine/network/row_groups.h"

#include <algorithm>
#include <type_traits>

#include "engine/base/prefetch.h"

namespace slide {

namespace {

using Listed = std::span<const Contribution>;

std::size_t size_of(const Listed& part) {
  return part.size();
}
std::uint32_t row_at(const Listed& part, std::size_t i) {
  return part[i].row;
}
std::uint32_t source_at(const Listed& part, std::size_t i) {
  return part[i].source;
}

std::size_t size_of(const SamplePart& part) {
  return part.count;
}
std::uint32_t row_at(const SamplePart& part, std::size_t i) {
  return part.rows[i];
}
std::uint32_t source_at(const SamplePart& part, std::size_t) {
  return part.source;
}

}  // namespace

void RowGroups::reserve(std::size_t capacity) {
  rows_.reserve(capacity + 1);
  offsets_.reserve(capacity + 2);
  slot_of_.reserve(capacity);
  sources_.reserve(capacity);
  values_.reserve(capacity);
}

void RowGroups::build(std::span<const Listed> parts, std::uint64_t* slots, std::uint32_t stamp) {
  group(parts, slots, stamp);
}
void RowGroups::build(std::span<const SamplePart> parts, std::uint64_t* slots, std::uint32_t stamp) {
  group(parts, slots, stamp);
}

// Counts contributions into offsets_[slot + 1]. Whether a row is new is as good as random, so no branch
// depends on it: the place after the last group takes every row, and becomes a group of its own only when
// the row is new. `stamp` stands in the upper half of slots. Returns the number of groups.
template <class Part>
std::uint32_t RowGroups::count_rows(std::span<const Part> parts, std::uint64_t* slots, std::uint64_t stamp) {
  constexpr std::size_t kAhead = 16;  // contributions
  std::uint32_t groups = 0;
  std::size_t i = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Part& part = parts[p];
    const std::size_t size = size_of(part);
    for (std::size_t at = 0; p + 1 < parts.size() && at < std::min(kAhead, size_of(parts[p + 1])); ++at)
      prefetch<Access::kWrite>(slots + row_at(parts[p + 1], at));
    for (std::size_t at = 0; at < size; ++at) {
      if (at + kAhead < size) prefetch<Access::kWrite>(slots + row_at(part, at + kAhead));
      const std::uint32_t row = row_at(part, at);
      const std::uint64_t known = slots[row];
      const bool fresh = (known ^ stamp) >> 32 != 0;
      const auto slot = fresh ? groups : static_cast<std::uint32_t>(known);
      rows_[groups] = row;
      offsets_[groups + 1] = 0;
      ++offsets_[slot + 1];
      slots[row] = stamp | slot;
      slot_of_[i++] = slot;
      groups += fresh ? 1 : 0;
    }
  }
  return groups;
}

// Counting sort by row: counts the contributions of each row, then fills sources_ (and values_) group by
// group.
template <class Part>
void RowGroups::group(std::span<const Part> parts, std::uint64_t* slots, std::uint32_t stamp) {
  std::size_t total = 0;
  for (const Part& part : parts) total += size_of(part);
  rows_.resize(total + 1);
  offsets_.resize(total + 2);
  slot_of_.resize(total);
  sources_.resize(total);
  if constexpr (std::is_same_v<Part, SamplePart>) values_.resize(total);
  const std::uint32_t groups = count_rows(parts, slots, std::uint64_t{stamp} << 32);
  rows_.resize(groups);
  offsets_.resize(groups + 1);
  offsets_[0] = 0;
  // offsets_[slot + 1] becomes the start of group `slot` and, after filling, its end.
  std::uint32_t start = 0;
  for (std::size_t slot = 0; slot < groups; ++slot) start += std::exchange(offsets_[slot + 1], start);
  std::size_t i = 0;
  for (const Part& part : parts) {
    for (std::size_t c = 0; c < size_of(part); ++c) {
      const std::size_t at = offsets_[slot_of_[i++] + 1]++;
      sources_[at] = source_at(part, c);
      if constexpr (std::is_same_v<Part, SamplePart>) values_[at] = part.values[c];
    }
  }
}

}  // namespace slide

#include "engine/row_groups.h"

namespace slide {

void RowGroups::reserve(std::size_t capacity) {
  rows_.reserve(capacity);
  offsets_.reserve(capacity + 2);
  sources_.reserve(capacity);
  values_.reserve(capacity);
}

void RowGroups::build(std::span<const std::span<const Contribution>> parts, std::uint32_t* slots) {
  rows_.clear();
  offsets_.assign(1, 0);
  // Counts into offsets_[slot + 1]. A slot is valid when the row it names is this one (Briggs and Torczon
  // 1993).
  std::size_t total = 0;
  for (const auto& part : parts) {
    for (const Contribution& c : part) {
      std::uint32_t slot = slots[c.row];
      if (slot >= rows_.size() || rows_[slot] != c.row) {
        slot = slots[c.row] = static_cast<std::uint32_t>(rows_.size());
        rows_.push_back(c.row);
        offsets_.push_back(0);
      }
      ++offsets_[slot + 1];
    }
    total += part.size();
  }
  // offsets_[slot + 1] becomes the start of group `slot` and, after filling, its end.
  std::size_t start = 0;
  for (std::size_t slot = 0; slot < rows_.size(); ++slot) start += std::exchange(offsets_[slot + 1], start);
  sources_.resize(total);
  values_.resize(total);
  for (const auto& part : parts) {
    for (const Contribution& c : part) {
      const std::size_t at = offsets_[slots[c.row] + 1]++;
      sources_[at] = c.source;
      values_[at] = c.value;
    }
  }
}

}  // namespace slide

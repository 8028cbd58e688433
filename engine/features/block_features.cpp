#include "engine/features/block_features.h"

#include <algorithm>
#include <bit>

namespace slide {

namespace {

// The kind of a feature that `samples` have: how many entries its list is filled up to, as a power of 2.
constexpr std::uint32_t kind_of(std::uint32_t samples) {
  return samples <= 2 ? 1 : samples <= 4 ? 2 : 3;
}

}  // namespace

namespace {

// Floats of the dense columns of a block, at most.
std::size_t column_room(std::size_t features, std::size_t entries, std::size_t lanes) {
  std::size_t room = std::min(features, entries);  // of a single sample
  for (std::size_t l = kernels::kLaneMultiple; l <= lanes; l += kernels::kLaneMultiple) {
    room = std::max(room, l * std::min(features, entries / (BlockFeatures::sparse_entries(l) + 1)));
  }
  return room;
}

}  // namespace

void BlockFeatures::reserve(std::size_t features, std::size_t entries, std::size_t lanes) {
  const std::size_t most = std::min(features, entries);
  present_.assign(features / 32 + 1, 0);
  first_.assign(features / 32 + 1, 0);
  words_.reserve(std::min(most, present_.size()));
  entry_of_.resize(entries);
  samples_of_.resize(most);
  places_.resize(most);
  columns_ = AlignedArray<float>(column_room(features, entries, lanes));
  if (sparse_entries(lanes) == 0) return;
  samples_.resize(2 * entries);  // a list is filled up to twice its entries at most
  values_.resize(2 * entries);
}

std::size_t BlockFeatures::bytes_of(std::size_t features, std::size_t entries, std::size_t lanes) {
  const std::size_t most = std::min(features, entries), words = features / 32 + 1;
  const std::size_t listed = sparse_entries(lanes) == 0 ? 0 : 2 * entries;
  return (2 * words + std::min(most, words) + entries + 2 * most) * sizeof(std::uint32_t) +
         column_room(features, entries, lanes) * sizeof(float) +
         listed * (sizeof(std::uint16_t) + sizeof(float));
}

// Finds the features of the block, and how many samples have each.
void BlockFeatures::count_features(std::span<const SparseRow> rows) {
  for (const std::uint32_t word : words_) present_[word] = 0;
  words_.clear();
  for (const SparseRow& row : rows) {
    for (const std::uint32_t f : row.ids) {
      if (present_[f / 32] == 0) words_.push_back(f / 32);
      present_[f / 32] |= 1u << (f % 32);
    }
  }
  size_ = 0;
  for (const std::uint32_t word : words_) {
    first_[word] = static_cast<std::uint32_t>(size_);
    size_ += static_cast<std::size_t>(std::popcount(present_[word]));
  }
  std::fill_n(samples_of_.begin(), size_, 0u);
  std::size_t entry = 0;
  for (const SparseRow& row : rows) {
    for (const std::uint32_t f : row.ids) {
      const std::uint32_t below = present_[f / 32] & ((1u << (f % 32)) - 1);
      entry_of_[entry] = first_[f / 32] + static_cast<std::uint32_t>(std::popcount(below));
      ++samples_of_[entry_of_[entry++]];
    }
  }
}

void BlockFeatures::give_places(std::size_t lanes) {
  const std::size_t sparse = sparse_entries(lanes);
  std::uint32_t columns = 0, entries = 0;
  for (std::size_t f = 0; f < size_; ++f) {
    if (samples_of_[f] > sparse) {
      places_[f] = kernels::kKinds * columns++;
    } else {
      const std::uint32_t kind = kind_of(samples_of_[f]);
      places_[f] = kernels::kKinds * entries + kind;
      entries += 1u << kind;
    }
  }
  std::fill_n(columns_.data(), columns * lanes, 0.0f);
  std::fill_n(values_.data(), entries, 0.0f);
  // What fills a list up names some sample: each another one, so that additions need not wait for each other.
  for (std::size_t e = 0; e < entries; ++e) samples_[e] = static_cast<std::uint16_t>(e % lanes);
}

void BlockFeatures::build(std::span<const SparseRow> rows, std::size_t lanes) {
  count_features(rows);
  give_places(lanes);
  std::fill_n(samples_of_.begin(), size_, 0u);
  std::size_t entry = 0;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    for (const float value : rows[s].values) {
      const std::uint32_t f = entry_of_[entry++];
      const std::uint32_t place = places_[f] / kernels::kKinds;
      if (places_[f] % kernels::kKinds == 0) {
        columns_[place * lanes + s] = value;
      } else {
        const std::uint32_t at = place + samples_of_[f]++;
        samples_[at] = static_cast<std::uint16_t>(s);
        values_[at] = value;
      }
    }
  }
}

std::uint32_t BlockFeatures::length_of(std::uint32_t place) const {
  const std::uint32_t kind = place % kernels::kKinds;
  if (kind == 0) return 0;
  std::uint32_t length = 1u << kind;
  while (length > 1 && values_[place / kernels::kKinds + length - 1] == 0.0f) --length;
  return length;
}

}  // namespace slide

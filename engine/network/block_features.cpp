#include "engine/network/block_features.h"

#include <bit>

namespace slide {

namespace {

// Kind of a list for a feature of `samples` samples: log2 of the padded length.
constexpr std::uint32_t kind_of(std::uint32_t samples) {
  return samples <= 2 ? 1 : samples <= 4 ? 2 : 3;
}

// Max floats of the dense columns of a block.
std::size_t column_room(std::size_t features, std::size_t entries, std::size_t lanes) {
  std::size_t room = std::min(features, entries);  // for a single sample
  for (std::size_t l = kernels::kLaneMultiple; l <= lanes; l += kernels::kLaneMultiple) {
    room = std::max(room, l * std::min(features, entries / (BlockFeatures::sparse_entries(l) + 1)));
  }
  return room;
}

}  // namespace

// For the worst case, in which each entry is a feature of its own.
void BlockFeatures::reserve(std::size_t features, std::size_t entries, std::size_t lanes) {
  const std::size_t max_ids = std::min(features, entries);
  present_.assign(features / 32 + 1, 0);
  first_.assign(features / 32 + 1, 0);
  words_.resize(std::min(max_ids, present_.size()));
  parts_ = {};
  entry_of_.resize(entries);
  samples_of_.resize(max_ids);
  places_.resize(max_ids);
  columns_ = AlignedArray<float>(column_room(features, entries, lanes));
  if (sparse_entries(lanes) == 0) return;
  samples_.resize(2 * entries);  // padding at most doubles a list
  values_.resize(2 * entries);
}

std::size_t BlockFeatures::bytes_of(std::size_t features, std::size_t entries, std::size_t lanes) {
  const std::size_t max_ids = std::min(features, entries), words = features / 32 + 1;
  const std::size_t listed = sparse_entries(lanes) == 0 ? 0 : 2 * entries;
  return (2 * words + std::min(max_ids, words) + entries + 2 * max_ids) * sizeof(std::uint32_t) +
         column_room(features, entries, lanes) * sizeof(float) +
         listed * (sizeof(std::uint16_t) + sizeof(float));
}

void BlockFeatures::clear() {
  for (Part& part : parts_) {
    for (std::size_t i = 0; i < part.words; ++i) present_[words_[part.first_word + i]] = 0;
    part.words = part.size = 0;
  }
}

// Calls body(sample, entry, at) for each entry of the samples within the feature range `range`: index `at` of
// the row, index `entry` of the block.
template <class Body>
void BlockFeatures::each_entry(std::span<const SparseRow> rows, Range range, Body&& body) {
  std::size_t before = 0;  // entries of previous rows
  for (std::size_t s = 0; s < rows.size(); before += rows[s++].ids.size()) {
    const auto ids = rows[s].ids;
    const auto begin = range.first == 0 ? ids.begin() : std::ranges::lower_bound(ids, range.first);
    const auto end = range.end == UINT32_MAX ? ids.end() : std::lower_bound(begin, ids.end(), range.end);
    for (auto id = begin; id != end; ++id) {
      const auto at = static_cast<std::size_t>(id - ids.begin());
      body(s, before + at, at);
    }
  }
}

// Sets where the part's ranges begin: after the worst-case need of all features before it.
void BlockFeatures::set_beginnings(std::span<const SparseRow> rows, std::size_t lanes, Range range,
                                   Part& part) {
  std::size_t entries = 0;  // entries of features before the part
  for (const SparseRow& row : rows) {
    if (range.first > 0)
      entries += static_cast<std::size_t>(std::ranges::lower_bound(row.ids, range.first) - row.ids.begin());
  }
  const std::size_t first = range.first;
  part.first_word = std::min(first / 32, entries);
  part.first = std::min(first, entries);
  part.first_column = std::min(first, entries / (sparse_entries(lanes) + 1));
  part.first_entry = 2 * entries;
}

// Finds the distinct features of the part and counts the samples of each.
void BlockFeatures::count_features(std::span<const SparseRow> rows, Range range, Part& part) {
  each_entry(rows, range, [&](std::size_t s, std::size_t, std::size_t at) {
    const std::uint32_t f = rows[s].ids[at];
    if (present_[f / 32] == 0) words_[part.first_word + part.words++] = f / 32;
    present_[f / 32] |= 1u << (f % 32);
  });
  for (std::size_t i = 0; i < part.words; ++i) {
    const std::uint32_t word = words_[part.first_word + i];
    first_[word] = static_cast<std::uint32_t>(part.first + part.size);
    part.size += static_cast<std::size_t>(std::popcount(present_[word]));
  }
  std::fill_n(samples_of_.begin() + static_cast<std::ptrdiff_t>(part.first), part.size, 0u);
  each_entry(rows, range, [&](std::size_t s, std::size_t entry, std::size_t at) {
    const std::uint32_t f = rows[s].ids[at];
    const std::uint32_t below = present_[f / 32] & ((1u << (f % 32)) - 1);
    entry_of_[entry] = first_[f / 32] + static_cast<std::uint32_t>(std::popcount(below));
    ++samples_of_[entry_of_[entry]];
  });
}

// Gives each feature of the part a dense column, or a list of 2^kind entries where few samples have it;
// clears both. places_[f] = index of the column or of the list's first entry, times kKinds, plus the kind.
void BlockFeatures::assign_places(std::size_t lanes, const Part& part) {
  const std::size_t sparse = sparse_entries(lanes);
  std::size_t columns = part.first_column, entries = part.first_entry;
  for (std::size_t f = part.first; f < part.first + part.size; ++f) {
    if (samples_of_[f] > sparse) {
      places_[f] = kernels::kKinds * static_cast<std::uint32_t>(columns++);
    } else {
      const std::uint32_t kind = kind_of(samples_of_[f]);
      places_[f] = kernels::kKinds * static_cast<std::uint32_t>(entries) + kind;
      entries += std::size_t{1} << kind;
    }
  }
  std::fill_n(columns_.data() + part.first_column * lanes, (columns - part.first_column) * lanes, 0.0f);
  // Padding entries add 0 to different samples, so that the additions do not depend on each other.
  for (std::size_t e = part.first_entry; e < entries; ++e) {
    values_[e] = 0.0f;
    samples_[e] = static_cast<std::uint16_t>(e % lanes);
  }
}

// Finds and counts the features, assigns their places, then fills in the values. samples_of_ becomes the
// fill cursor.
void BlockFeatures::build(std::span<const SparseRow> rows, std::size_t lanes, Range range,
                          std::size_t number) {
  Part& part = parts_[number];
  set_beginnings(rows, lanes, range, part);
  count_features(rows, range, part);
  assign_places(lanes, part);
  std::fill_n(samples_of_.begin() + static_cast<std::ptrdiff_t>(part.first), part.size, 0u);
  each_entry(rows, range, [&](std::size_t s, std::size_t entry, std::size_t at) {
    const float value = rows[s].values[at];
    const std::uint32_t f = entry_of_[entry];
    const std::uint32_t place = places_[f] / kernels::kKinds;
    if (places_[f] % kernels::kKinds == 0) {
      columns_[place * lanes + s] = value;
    } else {
      const std::uint32_t to = place + samples_of_[f]++;
      samples_[to] = static_cast<std::uint16_t>(s);
      values_[to] = value;
    }
  });
}

std::uint32_t BlockFeatures::length_of(std::uint32_t place) const {
  const std::uint32_t kind = place % kernels::kKinds;
  if (kind == 0) return 0;
  std::uint32_t length = 1u << kind;
  while (length > 1 && values_[place / kernels::kKinds + length - 1] == 0.0f) --length;
  return length;
}

}  // namespace slide

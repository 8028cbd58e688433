// The features of a block of samples, by feature: what the wide path multiplies its weights with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/kernels/kernels.h"

namespace slide {

// A feature of many samples is a dense column, the value that each sample has of it; one of few is the list
// of its entries, filled up to 2, 4 or 8 with zeros, so that loops over them have a fixed length. Which
// features are there is kept in two words for 32, which stay in the first-level cache while patterns are
// compared with them. One a block; not thread-safe.
class BlockFeatures {
 public:
  // For ids below `features` and blocks of up to `entries` feature values in up to `lanes` lanes.
  void reserve(std::size_t features, std::size_t entries, std::size_t lanes);
  static std::size_t bytes_of(std::size_t features, std::size_t entries, std::size_t lanes);  // of reserve()
  void build(std::span<const SparseRow> rows, std::size_t lanes);

  // Most samples of a feature that is a list: a dense column costs a vector for 16 samples, an entry about as
  // much.
  static constexpr std::size_t sparse_entries(std::size_t lanes) {
    return lanes < 64 ? 0 : std::min<std::size_t>(lanes / 16, 8);
  }

  std::size_t size() const { return size_; }  // distinct features
  // A bit for each feature, and of each word of bits the number of its first feature; the others follow.
  const std::uint32_t* present() const { return present_.data(); }
  const std::uint32_t* first() const { return first_.data(); }
  // By number: place * kKinds + kind. Of kind 0 the dense columns, in order; of kind k lists of 2^k entries.
  const std::uint32_t* places() const { return places_.data(); }
  // Entries of the list at places()[i], without what fills it up; 0 for a dense column.
  std::uint32_t length_of(std::uint32_t place) const;
  std::span<const std::uint32_t> words() const { return words_; }  // with a bit set, in order of the features
  const float* columns() const { return columns_.data(); }         // [dense columns x lanes]
  const std::uint16_t* samples() const { return samples_.data(); }  // of the entries
  const float* values() const { return values_.data(); }

 private:
  void count_features(std::span<const SparseRow> rows);
  void give_places(std::size_t lanes);

  std::size_t size_ = 0;
  std::vector<std::uint32_t> present_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> words_;       // with a bit set
  std::vector<std::uint32_t> entry_of_;    // of each feature value of the block, its feature
  std::vector<std::uint32_t> samples_of_;  // of each feature, how many have it; then how many were filled in
  std::vector<std::uint32_t> places_;
  AlignedArray<float> columns_;
  std::vector<std::uint16_t> samples_;
  std::vector<float> values_;
};

}  // namespace slide

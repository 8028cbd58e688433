// Feature-major view of a block of samples: for each feature that occurs in the block, the samples that have
// it and their values. The linear term (engine/wide) multiplies its weights with it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/kernels/kernels.h"

namespace slide {

// Layout: a feature of many samples is a dense column (one value per sample of the block); a feature of few
// samples is a list of entries, padded with zeros to 2, 4 or 8, so that loops have a fixed length. A bitmap
// marks the features that occur; `first` gives the rank of each bitmap word's first feature, so that rank =
// first[f / 32] + popcount of the lower bits. Both arrays stay in the first-level cache while feature
// patterns are matched against the block.
//
// Not thread-safe, except that the parts of one block may be built concurrently (see below). One object per
// block.
class BlockFeatures {
 public:
  // Reserves memory for feature ids below `features` and for blocks of up to `entries` feature values and up
  // to `lanes` samples (padded to kernels::kLaneMultiple).
  void reserve(std::size_t features, std::size_t entries, std::size_t lanes);
  // bytes that reserve() allocates
  static std::size_t bytes_of(std::size_t features, std::size_t entries, std::size_t lanes);
  // Indexes the features below `end` of all rows.
  void build(std::span<const SparseRow> rows, std::size_t lanes, std::size_t end = UINT32_MAX) {
    clear();
    build(rows, lanes, {0, static_cast<std::uint32_t>(end)}, 0);
  }
  // Builds the index in up to kMaxParts parts, which may run concurrently: clear() first drops the previous
  // block, then each part indexes the features [first, end). The ranges of the parts follow each other; all
  // bounds but the last end are multiples of 32. Each part owns a separate range of feature numbers and
  // storage, so that numbers have gaps between parts; words() is valid only after the one-part build().
  struct Range {
    std::uint32_t first = 0, end = UINT32_MAX;
  };
  static constexpr std::size_t kMaxParts = 4;
  void clear();
  void build(std::span<const SparseRow> rows, std::size_t lanes, Range range, std::size_t part);

  // Max entries of a feature that is stored as a list: a dense column costs one vector for 16 samples, an
  // entry costs about as much.
  static constexpr std::size_t sparse_entries(std::size_t lanes) {
    return lanes < 64 ? 0 : std::min<std::size_t>(lanes / 16, 8);
  }

  // Number of distinct features.
  std::size_t size() const {
    std::size_t all = 0;
    for (const Part& part : parts_) all += part.size;
    return all;
  }
  // One bit per feature; for each 32-bit word, the number of its first feature (the others of the word follow
  // in order).
  const std::uint32_t* present() const { return present_.data(); }
  const std::uint32_t* first() const { return first_.data(); }
  // places()[feature number] = position * kKinds + kind. Kind 0: index of a dense column; kind k > 0: index
  // of a list of 2^k entries.
  const std::uint32_t* places() const { return places_.data(); }
  // Number of entries of the list at places()[i] without padding; 0 for a dense column.
  std::uint32_t length_of(std::uint32_t place) const;
  // Indices of the bitmap words with a bit set, in the order of the feature numbers; valid after the one-part
  // build().
  std::span<const std::uint32_t> words() const { return {words_.data(), parts_[0].words}; }
  const float* columns() const { return columns_.data(); }          // [dense columns x lanes]
  const std::uint16_t* samples() const { return samples_.data(); }  // of the entries, [entries]
  const float* values() const { return values_.data(); }

 private:
  // Sizes of one part, and where the part's range of each array begins.
  struct Part {
    std::size_t words = 0, size = 0;        // bitmap words with a bit set; distinct features
    std::size_t first_word = 0, first = 0;  // first index in words_; number of the first feature
    std::size_t first_column = 0, first_entry = 0;
  };
  template <class Body>
  static void each_entry(std::span<const SparseRow> rows, Range range, Body&& body);
  void set_beginnings(std::span<const SparseRow> rows, std::size_t lanes, Range range, Part& part);
  void count_features(std::span<const SparseRow> rows, Range range, Part& part);
  void assign_places(std::size_t lanes, const Part& part);

  std::array<Part, kMaxParts> parts_;
  std::vector<std::uint32_t> present_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> words_;     // indices of nonzero bitmap words
  std::vector<std::uint32_t> entry_of_;  // by feature value of the block: its feature number
  // by feature number: number of samples that have it; then a fill cursor
  std::vector<std::uint32_t> samples_of_;
  std::vector<std::uint32_t> places_;
  AlignedArray<float> columns_;
  std::vector<std::uint16_t> samples_;
  std::vector<float> values_;
};

}  // namespace slide

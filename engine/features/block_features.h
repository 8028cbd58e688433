// The features of a block of samples, by feature: what the wide path multiplies its weights with.
#pragma once

#include <algorithm>
#include <array>
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
  // What the rows have of the features below `end`.
  void build(std::span<const SparseRow> rows, std::size_t lanes, std::size_t end = UINT32_MAX) {
    clear();
    build(rows, lanes, {0, static_cast<std::uint32_t>(end)}, 0);
  }
  // The same in up to kMaxParts parts, which may run at once: first clear() forgets the block before, whose
  // parts had their stretches elsewhere, then each part builds the features [first, end), one run behind the
  // other, all multiples of 32 but the last end. Each part has its own stretch of numbers and places, so that
  // these have gaps, and words() are not for what is built so.
  struct Run {
    std::uint32_t first = 0, end = UINT32_MAX;
  };
  static constexpr std::size_t kMaxParts = 4;
  void clear();
  void build(std::span<const SparseRow> rows, std::size_t lanes, Run run, std::size_t part);

  // Most samples of a feature that is a list: a dense column costs a vector for 16 samples, an entry about as
  // much.
  static constexpr std::size_t sparse_entries(std::size_t lanes) {
    return lanes < 64 ? 0 : std::min<std::size_t>(lanes / 16, 8);
  }

  // Distinct features.
  std::size_t size() const {
    std::size_t all = 0;
    for (const Part& part : parts_) all += part.size;
    return all;
  }
  // A bit for each feature, and of each word of bits the number of its first feature; the others follow.
  const std::uint32_t* present() const { return present_.data(); }
  const std::uint32_t* first() const { return first_.data(); }
  // By number: place * kKinds + kind. Of kind 0 the dense columns, in order; of kind k lists of 2^k entries.
  const std::uint32_t* places() const { return places_.data(); }
  // Entries of the list at places()[i], without what fills it up; 0 for a dense column.
  std::uint32_t length_of(std::uint32_t place) const;
  // With a bit set, in order of the features' numbers; of a whole build().
  std::span<const std::uint32_t> words() const { return {words_.data(), parts_[0].words}; }
  const float* columns() const { return columns_.data(); }          // [dense columns x lanes]
  const std::uint16_t* samples() const { return samples_.data(); }  // of the entries
  const float* values() const { return values_.data(); }

 private:
  // What one part has, and where its stretch of everything begins.
  struct Part {
    std::size_t words = 0, size = 0;        // words with a bit set, distinct features
    std::size_t first_word = 0, first = 0;  // in words_; number of the first feature
    std::size_t first_column = 0, first_entry = 0;
  };
  template <class Body>
  static void each_entry(std::span<const SparseRow> rows, Run run, Body&& body);
  void start(std::span<const SparseRow> rows, std::size_t lanes, Run run, Part& part);
  void count_features(std::span<const SparseRow> rows, Run run, Part& part);
  void give_places(std::size_t lanes, const Part& part);

  std::array<Part, kMaxParts> parts_;
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

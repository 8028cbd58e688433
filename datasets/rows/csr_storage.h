// Memory of a data set under construction: allocated once with exact sizes, then filled by several threads in
// disjoint ranges; the filling thread touches its pages first. Not thread-safe beyond disjoint ranges.
#pragma once

#include <cstdint>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"

namespace slide {

// Size of a data set: samples, and total entries.
struct CsrCounts {
  std::uint64_t rows = 0;
  std::uint64_t features = 0;
  std::uint64_t labels = 0;
  std::uint64_t weights = 0;  // of samples: 0, or one per sample
  std::uint64_t dense = 0;    // numbers in dense columns

  CsrCounts& operator+=(const CsrCounts& other) {
    rows += other.rows;
    features += other.features;
    labels += other.labels;
    weights += other.weights;
    dense += other.dense;
    return *this;
  }
  bool operator==(const CsrCounts&) const = default;
};

struct CsrStorage {
  AlignedArray<std::uint64_t> feature_offsets;  // rows + 1, zeroed
  AlignedArray<std::uint32_t> feature_ids;
  AlignedArray<float> feature_values;
  AlignedArray<std::uint64_t> label_offsets;  // rows + 1, zeroed
  AlignedArray<std::uint32_t> label_ids;
  AlignedArray<float> weights;
  AlignedArray<float> dense;  // rows of dense columns, one after the other

  CsrStorage() = default;
  explicit CsrStorage(const CsrCounts& counts);
};

// Converts filled storage to a data set that owns it, without dense columns.
Dataset make_dataset(CsrStorage storage, std::uint32_t feature_count, std::uint32_t label_count);

}  // namespace slide

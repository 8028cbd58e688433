// Memory of a data set under construction, sized exactly once and then filled by several threads at their own
// places. Pages are touched first by the thread that writes them. Not thread-safe beyond disjoint places.
#pragma once

#include <cstdint>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"

namespace slide {

// How much of a data set: samples, and entries over all of them.
struct CsrCounts {
  std::uint64_t rows = 0;
  std::uint64_t features = 0;
  std::uint64_t labels = 0;
  std::uint64_t weights = 0;  // of samples: none, or one for each

  CsrCounts& operator+=(const CsrCounts& other) {
    rows += other.rows;
    features += other.features;
    labels += other.labels;
    weights += other.weights;
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

  CsrStorage() = default;
  explicit CsrStorage(const CsrCounts& counts);
};

// Turns filled storage into a data set that owns it.
Dataset make_dataset(CsrStorage storage, std::uint32_t feature_count, std::uint32_t label_count);

}  // namespace slide

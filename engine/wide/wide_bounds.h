// Upper bounds of the linear term for groups of adjacent neurons: one byte per group and feature, to exclude
// groups without top-k neurons cheaply.
//
// Features of few neurons have no bounds (their bounds would be loose); WidePostings adds their exact weights
// (start() and add() with `limit`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/wide/wide_postings.h"

namespace slide {

// Immutable, safe from any thread.
class WideBounds {
 public:
  static constexpr std::size_t kGroup = 16;  // neurons that share a bound
  static constexpr std::size_t kFew = 256;   // min value of `few` in use

  // For a linear term by the postings of all its `neurons` neurons, without the features of at most `few`
  // neurons.
  WideBounds(const WidePostings& postings, std::size_t neurons, std::size_t few, int threads);

  std::size_t groups() const { return groups_; }
  std::size_t few() const { return few_; }

  // Entries of some samples whose features have bounds, one sample after another.
  struct Samples {
    std::vector<std::uint32_t> rows;
    std::vector<float> values;
    std::vector<std::size_t> from{0};

    void clear();
  };
  // Appends a sample. Returns false, and appends one without entries, where a value is negative or NaN: no
  // bound exists then.
  bool append(const SparseRow& row, Samples& samples) const;

  // bounds[g - first] = upper bound of the bounded features' contribution to the score of any neuron of group
  // g, for sample number `sample` and groups [first, first + count). Float rounding may lower it by a
  // relative kRounding.
  static constexpr float kRounding = 1e-4f;
  void bound(const Samples& samples, std::size_t sample, std::size_t first, std::size_t count,
             float* bounds) const;

  std::size_t bytes() const;
  // Upper bound of the memory for `weights` weights, where `few` is at least a fourth of the groups.
  static double bytes_of(double weights, double features) {
    return 4 * weights + features * sizeof(std::uint32_t);
  }

 private:
  std::size_t groups_, few_;
  std::size_t stride_;                   // bytes of a row
  std::vector<std::uint32_t> rows_;      // by feature; kNone: no bounds
  AlignedArray<std::int8_t> q_;          // [features with bounds x stride_], 0 to 127
  AlignedArray<std::int8_t> exponents_;  // their powers of two
};

}  // namespace slide

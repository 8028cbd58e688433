// Upper bounds of wide scores, for some neurons next to each other at a time: a byte for each such group and
// feature tells soon where no neuron can be among the best.
//
// Features of few neurons say much about these and nothing about the others of their groups: they have no
// bounds, and WidePostings adds their weights up (Walk, `most`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/wide/wide_path.h"

namespace slide {

// Immutable, safe from any thread.
class WideBounds {
 public:
  static constexpr std::size_t kGroup = 16;  // neurons that share a bound
  static constexpr std::size_t kFew = 256;

  // Of all neurons of a wide path over `features` features. What no more than `few` neurons have is left out.
  WideBounds(const WidePath& wide, std::size_t features, std::size_t few = kFew);

  std::size_t groups() const { return groups_; }
  std::size_t few() const { return few_; }

  // What some samples have of the features with bounds, one sample behind the other.
  struct Samples {
    std::vector<std::uint32_t> rows;
    std::vector<float> values;
    std::vector<std::size_t> from{0};

    void clear();
  };
  // Appends a sample. False, and nothing happens, where a value is below 0 or no number: then there is no
  // bound.
  bool append(const SparseRow& row, Samples& samples) const;

  // bounds[g - first] = what the features with bounds add to the score of a neuron of group g for sample
  // number `sample`, at most, for the groups [first, first + count). As float sums go, it may be too low by
  // kRounding of itself.
  static constexpr float kRounding = 1e-4f;
  void bound(const Samples& samples, std::size_t sample, std::size_t first, std::size_t count,
             float* bounds) const;

  std::size_t bytes() const;
  // At most, of so many weights, where `few` is a fourth of the groups or more.
  static double bytes_of(double weights, double features) {
    return 4 * weights + features * sizeof(std::uint32_t);
  }

 private:
  std::size_t groups_, few_;
  std::size_t stride_;                   // bytes of a row
  std::vector<std::uint32_t> rows_;      // by feature; kNone: no bounds
  AlignedArray<std::int8_t> q_;          // [features with bounds x stride_], from 0 to 127,
  AlignedArray<std::int8_t> exponents_;  // and their powers of two
};

}  // namespace slide

// The best labels of one sample, soon: all output neurons are scored roughly, from a copy of their weights in
// bytes, and those that could be among the best are told apart by their exact scores. Weights that are
// bfloat16 or bytes themselves are not copied.
//
// The rough scores are wrong by no more than the length of the hidden activations times that of a row's
// rounding errors, so no label of the best is missed. The wide path adds up by feature: only weights that the
// sample meets are read.
//
// Immutable, and safe to use from any thread with a Scratch each; refers to the layer, which must not change
// meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/network/layer.h"
#include "engine/wide/wide_postings.h"

namespace slide {

class Screen {
 public:
  // Of an output layer above a hidden one. `wide`: the postings of its wide path, nullptr without; they must
  // live on.
  Screen(const Layer& output, const WidePostings* wide);

  // Whether there is a bound on the errors: all weights that are copied are finite.
  bool bounded() const { return bounded_; }

  struct Scratch {
    AlignedArray<float> x;  // the hidden activations, with zeros behind them
    AlignedArray<float> z;  // rough scores
    std::vector<float> best;
    std::vector<std::uint32_t> places;
  };
  Scratch make_scratch() const;

  // Appends to `out` the neurons that can be among the `k` best for the sample of `in` (one lane), ascending;
  // all of the k best are there. `row` holds its features.
  void find(const BlockInput& in, const SparseRow& row, std::size_t k, Scratch& scratch,
            std::vector<std::uint32_t>& out) const;

  std::size_t bytes() const;

 private:
  static constexpr std::size_t kStretch = 256;  // neurons that share a bound on their errors

  void copy_weights();
  float error(std::size_t first, double length) const;
  void score(const BlockInput& in, const SparseRow& row, Scratch& scratch) const;
  float least_of_best(std::size_t k, double length, Scratch& scratch) const;

  const Layer& output_;
  const WidePostings* wide_;
  std::size_t stride_;           // columns of a row
  AlignedArray<std::int8_t> q_;  // fp32 rows in bytes, see kernels/int8.h
  std::vector<std::int8_t> exponents_;
  std::vector<float> errors_;  // by stretch: length of the largest row of rounding errors
  bool bounded_ = true;
};

}  // namespace slide

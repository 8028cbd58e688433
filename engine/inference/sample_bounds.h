// Upper bounds of the scores of all output neurons for one sample, at low latency: from an int8 copy of the
// weights, and for the linear term from bounds per group of neurons (WideBounds), so that weights of frequent
// features are not read. Weights in bfloat16 or int8 are used without a copy.
//
// Error bound: the length of the hidden activations times the length of a row's rounding errors
// (Cauchy-Schwarz). Thus no label of the exact top k is lost.
//
// Immutable, safe from any thread with one Scratch per thread. Refers to the layer, which must not change.
// For batches see batch_bounds.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/inference/candidate_rescorer.h"
#include "engine/network/layer.h"
#include "engine/wide/wide_bounds.h"
#include "engine/wide/wide_postings.h"

namespace slide {

class SampleBounds {
 public:
  // For an output layer above a hidden layer. `wide`: postings of its linear term, must outlive this object;
  // `bounds`: of the same linear term; both nullptr without one.
  SampleBounds(const Layer& output, const WidePostings* wide, std::shared_ptr<const WideBounds> bounds);

  // Whether errors are bounded: all copied weights are finite.
  bool bounded() const { return bounded_; }

  struct Scratch {
    AlignedArray<float> x;  // hidden activations, zero-padded
    // approximate scores, then their upper bounds; minus infinity for neurons already taken
    AlignedArray<float> z;
    WideBounds::Samples sample;
    AlignedArray<float> wide;  // bounds of the linear term, by group
    std::vector<std::uint32_t> places;
  };
  Scratch make_scratch() const;

  // Computes upper bounds of all scores for the sample of `in` (one lane) with features `row` into `scratch`.
  // Returns false where activations are not finite.
  bool bound(const BlockInput& in, const SparseRow& row, Scratch& scratch) const;
  // Move neurons from the scratch to `out`, unordered: the `count` neurons of largest bound; and all neurons
  // whose bound is at least `min_score`.
  void take_largest(std::size_t count, Scratch& scratch,
                    std::vector<CandidateRescorer::Candidate>& out) const;
  void take_above(float min_score, Scratch& scratch, std::vector<CandidateRescorer::Candidate>& out) const;

  std::size_t bytes() const;

 private:
  static constexpr std::size_t kErrorRows = 256;  // neurons that share one error bound

  void copy_weights();
  float error(std::size_t first, double length) const;
  void score_hidden(const BlockInput& in, Scratch& scratch) const;
  void add_wide(const SparseRow& row, Scratch& scratch) const;
  template <class Take>
  void take(float min_bound, Scratch& scratch, Take&& take) const;

  const Layer& output_;
  const WidePostings* wide_;
  std::shared_ptr<const WideBounds> bounds_;
  std::size_t stride_;           // columns of a row
  AlignedArray<std::int8_t> q_;  // fp32 rows as int8, see kernels/int8.h
  std::vector<std::int8_t> exponents_;
  std::vector<float> errors_;  // by kErrorRows neurons: max length of a row's rounding errors
  bool bounded_ = true;
};

}  // namespace slide

// What the scores of all output neurons cannot exceed for one sample, soon: from a copy of their weights in
// bytes, and for the wide path from bounds (WideBounds), so that of the features which many neurons have no
// weight is read. Weights that are bfloat16 or bytes themselves are not copied.
//
// Rough scores are wrong by no more than the length of the hidden activations times that of a row's rounding
// errors, so no label of the best is missed.
//
// Immutable, and safe to use from any thread with a Scratch each; refers to the layer, which must not change
// meanwhile. For many samples there is batch_bounds.h.
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
  // Of an output layer above a hidden one. `wide`: the postings of its wide path, which must live on, and
  // `bounds`, both nullptr without one.
  SampleBounds(const Layer& output, const WidePostings* wide, std::shared_ptr<const WideBounds> bounds);

  // Whether there is a bound on the errors: all weights that are copied are finite.
  bool bounded() const { return bounded_; }

  struct Scratch {
    AlignedArray<float> x;  // the hidden activations, with zeros behind them
    AlignedArray<float> z;  // rough scores, then their bounds; minus infinity where they are taken
    WideBounds::Samples sample;
    AlignedArray<float> wide;  // bounds of wide scores, by group
    std::vector<std::uint32_t> places;
  };
  Scratch make_scratch() const;

  // Leaves in `scratch` what the scores of all neurons cannot exceed for the sample of `in` (one lane), whose
  // features are `row`. False where there are no bounds: activations are not finite.
  bool bound(const BlockInput& in, const SparseRow& row, Scratch& scratch) const;
  // Moves neurons from there to `out`, in no order: the `count` with the largest bounds; and those whose
  // score could be `least` or more.
  void take_largest(std::size_t count, Scratch& scratch, std::vector<CandidateRescorer::Hit>& out) const;
  void take_above(float least, Scratch& scratch, std::vector<CandidateRescorer::Hit>& out) const;

  std::size_t bytes() const;

 private:
  static constexpr std::size_t kStretch = 256;  // neurons that share a bound on their errors

  void copy_weights();
  float error(std::size_t first, double length) const;
  void score_hidden(const BlockInput& in, Scratch& scratch) const;
  void add_wide(const SparseRow& row, Scratch& scratch) const;
  template <class Take>
  void take(float least, Scratch& scratch, Take&& take) const;

  const Layer& output_;
  const WidePostings* wide_;
  std::shared_ptr<const WideBounds> bounds_;
  std::size_t stride_;           // columns of a row
  AlignedArray<std::int8_t> q_;  // fp32 rows in bytes, see kernels/int8.h
  std::vector<std::int8_t> exponents_;
  std::vector<float> errors_;  // by stretch: length of the largest row of rounding errors
  bool bounded_ = true;
};

}  // namespace slide

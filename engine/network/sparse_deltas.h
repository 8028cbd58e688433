// The deltas of an output layer of which few are not 0: small ones are rounded at random to 0 or to a floor,
// so that their mean stays, and what is left is listed by neuron. After the first steps nearly all negatives
// of a sample are decided to within a hundredth; the backward pass and the update then cost what is listed,
// not what is active.
//
// The estimate of the gradient stays unbiased; an entry below the floor f gains the variance |delta| (f -
// |delta|). Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/rng.h"

namespace slide {

class SparseDeltas {
 public:
  // Room for `neurons` of `lanes` samples each; round() needs no more memory. Until then in_use() is false.
  void reserve(std::size_t neurons, std::size_t lanes);
  static std::size_t bytes_of(std::size_t neurons, std::size_t lanes) {
    return (neurons + 1) * sizeof(std::size_t) +
           (neurons * lanes + 1) * (sizeof(std::uint32_t) + sizeof(float));
  }
  bool in_use() const { return !places_.empty(); }

  // Rounds d [count x lanes], which is not 0 in the first `samples` lanes only, in place and lists the rest.
  // `floor` is in the units of d.
  void round(float floor, Rng rng, std::size_t count, std::size_t samples, std::size_t lanes, float* d);

  // Of the neuron in place `a`: the samples whose delta is not 0, ascending, and these deltas.
  std::span<const std::uint32_t> samples_of(std::size_t a) const {
    return {places_.data() + offsets_[a], size_of(a)};
  }
  const float* values_of(std::size_t a) const { return values_.data() + offsets_[a]; }
  std::size_t size_of(std::size_t a) const { return offsets_[a + 1] - offsets_[a]; }
  // Whether the list is in use and has nothing of the neuron in place `a`.
  bool leaves_out(std::size_t a) const { return in_use() && size_of(a) == 0; }

 private:
  std::vector<std::size_t> offsets_;
  AlignedArray<std::uint32_t> places_;
  AlignedArray<float> values_;
};

}  // namespace slide

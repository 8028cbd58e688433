// The deltas of an output layer of which few are not 0: small ones are rounded at random to 0 or to a floor,
// so that their mean stays, and what is left is listed by neuron. After the first steps nearly all negatives
// of a sample are decided to within a hundredth; the backward pass and the update then cost what is listed,
// not what is active.
//
// The estimate of the gradient stays unbiased; an entry below the floor f gains the variance |delta| (f -
// |delta|). sparsify() may run on different slices at once; not thread-safe else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/rng.h"
#include "engine/kernels/kernels.h"
#include "engine/network/slice.h"

namespace slide {

class SparseDeltas {
 public:
  // Room for `neurons` of `lanes` samples each; sparsify() needs no more memory. Until then in_use() is
  // false.
  void reserve(std::size_t neurons, std::size_t lanes);
  static std::size_t bytes_of(std::size_t neurons, std::size_t lanes) {
    return neurons * (sizeof(std::size_t) + sizeof(std::uint32_t)) +
           slices_of(neurons, kSliceNeurons) * room_of(lanes) * (sizeof(std::uint32_t) + sizeof(float));
  }
  bool in_use() const { return !places_.empty(); }

  // Of d [neurons x lanes], which is not 0 in the first `samples` lanes only, rounds slice number `slice`,
  // which is `neurons`, in place and lists the rest. `floor` is in the units of d; `rng` is the stream of all
  // neurons. May run on different slices at once.
  void sparsify(float floor, Rng rng, std::size_t slice, Slice neurons, std::size_t samples,
                std::size_t lanes, float* d);

  // Of the neuron in place `a`: the samples whose delta is not 0, ascending, and these deltas.
  std::span<const std::uint32_t> samples_of(std::size_t a) const {
    return {places_.data() + begins_[a], sizes_[a]};
  }
  const float* values_of(std::size_t a) const { return values_.data() + begins_[a]; }
  std::size_t size_of(std::size_t a) const { return sizes_[a]; }
  // Whether the list is in use and has nothing of the neuron in place `a`.
  bool leaves_out(std::size_t a) const { return in_use() && size_of(a) == 0; }

 private:
  // Of the lists of a slice: the kernel that fills them writes one entry more than it finds.
  static std::size_t room_of(std::size_t lanes) { return kSliceNeurons * lanes + kernels::kLaneMultiple; }

  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> sizes_;
  AlignedArray<std::uint32_t> places_;
  AlignedArray<float> values_;
};

}  // namespace slide

// Stochastic gradient sparsification of an output layer: a delta d with |d| < t becomes t (with the sign of
// d) with probability |d| / t, else 0. Its mean stays, so the gradient is unbiased; its variance grows by |d|
// (t - |d|). The nonzero deltas are listed by neuron: backward pass and update cost the listed deltas only.
//
// Thread safety: sparsify() may run for different slices at the same time; the rest is const.
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
  // Allocates memory for `neurons` active neurons of `lanes` samples, and sets in_use().
  void reserve(std::size_t neurons, std::size_t lanes);
  static std::size_t bytes_of(std::size_t neurons, std::size_t lanes) {
    return neurons * (sizeof(std::size_t) + sizeof(std::uint32_t)) +
           slices_of(neurons, kSliceNeurons) * room_of(lanes) * (sizeof(std::uint32_t) + sizeof(float));
  }
  bool in_use() const { return !places_.empty(); }

  // Sparsifies the rows `neurons` (slice number `slice`) of d [active x lanes] in place, and lists the
  // nonzero deltas of the first `samples` lanes. `rng`: stream of all neurons of the block.
  void sparsify(float threshold, Rng rng, std::size_t slice, Slice neurons, std::size_t samples,
                std::size_t lanes, float* d);

  // Active neuron at position `a`: the samples with a nonzero delta, ascending, and these deltas.
  std::span<const std::uint32_t> samples_of(std::size_t a) const {
    return {places_.data() + begins_[a], sizes_[a]};
  }
  const float* values_of(std::size_t a) const { return values_.data() + begins_[a]; }
  std::size_t size_of(std::size_t a) const { return sizes_[a]; }
  // Whether in_use(), and all deltas of the active neuron at position `a` are 0.
  bool is_zero(std::size_t a) const { return in_use() && size_of(a) == 0; }

 private:
  // Entries reserved per slice; the kernel needs room for one more entry than it lists.
  static std::size_t room_of(std::size_t lanes) { return kSliceNeurons * lanes + kernels::kLaneMultiple; }

  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> sizes_;
  AlignedArray<std::uint32_t> places_;
  AlignedArray<float> values_;
};

}  // namespace slide

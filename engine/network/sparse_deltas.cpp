#include "engine/network/sparse_deltas.h"

namespace slide {

void SparseDeltas::reserve(std::size_t neurons, std::size_t lanes) {
  const std::size_t entries = slices_of(neurons, kSliceNeurons) * room_of(lanes);
  begins_.assign(neurons, 0);
  sizes_.assign(neurons, 0);
  places_ = AlignedArray<std::uint32_t>(entries);
  values_ = AlignedArray<float>(entries);
}

// Number a of the stream keys the random bits of active neuron a.
void SparseDeltas::sparsify(float threshold, Rng rng, std::size_t slice, Slice neurons, std::size_t samples,
                            std::size_t lanes, float* d) {
  const auto& k = kernels::active();
  rng.skip(neurons.first);
  std::size_t at = slice * room_of(lanes);
  for (std::size_t a = neurons.first; a < neurons.end(); ++a) {
    const auto noise = static_cast<std::uint32_t>(rng.next());
    const std::size_t found =
        k.sparsify(d + a * lanes, samples, threshold, noise, places_.data() + at, values_.data() + at);
    begins_[a] = at;
    sizes_[a] = static_cast<std::uint32_t>(found);
    at += found;
  }
}

}  // namespace slide

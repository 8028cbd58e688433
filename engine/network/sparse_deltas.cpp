#include "engine/network/sparse_deltas.h"

#include "engine/kernels/kernels.h"

namespace slide {

void SparseDeltas::reserve(std::size_t neurons, std::size_t lanes) {
  offsets_.assign(neurons + 1, 0);
  places_ = AlignedArray<std::uint32_t>(neurons * lanes + 1);
  values_ = AlignedArray<float>(neurons * lanes + 1);
}

void SparseDeltas::round(float floor, Rng rng, std::size_t count, std::size_t samples, std::size_t lanes,
                         float* d) {
  const auto& k = kernels::active();
  std::size_t at = 0;
  for (std::size_t a = 0; a < count; ++a) {
    const auto noise = static_cast<std::uint32_t>(rng.next());
    at += k.round_small(d + a * lanes, samples, floor, noise, places_.data() + at, values_.data() + at);
    offsets_[a + 1] = at;
  }
}

}  // namespace slide

#include "lsh/feature_bins.h"

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"
#include "lsh/argmax.h"

namespace slide::lsh {

// width_: bin_size features (at most `dim`), or dim / bins where that is more. A permutation gives dim /
// width_ whole bins; there are as many permutations as all bins need.
FeatureBins::FeatureBins(std::size_t bins, std::size_t bin_size, std::size_t dim)
    : bins_(bins),
      bin_size_(bin_size),
      dim_(dim),
      width_(std::max(std::min(bin_size, dim), dim / bins)),
      permutations_((bins * width_ + dim / width_ * width_ - 1) / (dim / width_ * width_)),
      features_(bins * width_),
      places_(dim * permutations_) {
  if (features_.size() >= kUnused) fail_input("hash functions over {} places: too many", features_.size());
}

// Cuts each random permutation (Fisher-Yates) into whole bins; places_ is the inverse of features_.
void FeatureBins::draw(Rng rng) {
  multiplier_ = rng.next() | 1;
  offset_ = rng.next();
  std::fill(places_.begin(), places_.end(), kUnused);
  std::vector<std::uint32_t> order(dim_);
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t whole_bins = dim_ / width_ * width_;  // features of a permutation in complete bins
  for (std::size_t p = 0; p < permutations_; ++p) {
    for (std::size_t i = dim_ - 1; i > 0; --i) {
      std::swap(order[i], order[rng.below(static_cast<std::uint32_t>(i + 1))]);
    }
    const std::size_t begin = p * whole_bins;
    const std::size_t end = std::min(begin + whole_bins, features_.size());
    for (std::size_t place = begin; place < end; ++place) {
      features_[place] = order[place - begin];
      places_[features_[place] * permutations_ + p] = static_cast<std::uint32_t>(place);
    }
  }
}

// An empty bin takes the position of the first nonempty bin among its kAttempts donors; code 0 without any.
std::uint32_t FeatureBins::pack(const std::uint32_t* positions, std::size_t table, std::size_t k,
                                std::uint32_t bits) const {
  std::uint32_t fingerprint = 0;
  for (std::size_t j = 0; j < k; ++j) {
    const std::size_t bin = table * k + j;
    std::uint32_t position = positions[bin];
    for (std::uint32_t attempt = 0; position == kNowhere && attempt < kAttempts; ++attempt) {
      position = positions[donor(bin, attempt)];
    }
    if (position != kNowhere) fingerprint |= code(position) << (j * bits);
  }
  return fingerprint;
}

}  // namespace slide::lsh

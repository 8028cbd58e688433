// Visits the weights of a linear term by feature, though they are stored by neuron: a transposition in tiles
// of adjacent features, each with about the same number of weights. Threads work on different tiles, and the
// part of the result that a tile writes is small enough for the cache.
//
// Immutable, safe from any thread. Refers to the storage and the ids, which must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/prefetch.h"
#include "engine/wide/linear_term.h"

namespace slide {

class WeightsByFeature {
 public:
  static constexpr std::size_t kMaxTiles = 16;

  // Of the neurons `ids`, numbered 0, 1, ... below. O(their weights) by up to `threads` threads.
  WeightsByFeature(const LinearTerm::Storage& from, std::span<const std::uint32_t> ids, std::size_t features,
                   int threads);

  // [features + 1]: number of weights of all features below each.
  const std::vector<std::uint64_t>& offsets() const { return offsets_; }

  std::size_t tiles() const { return first_features_.size() - 1; }
  std::size_t first_feature(std::size_t tile) const { return first_features_[tile]; }  // tile <= tiles()

  // Calls use(place, n, i) for every weight of the features of a tile: its place in the order by feature and
  // then by neuron, its neuron, its index in the storage. The weights of a feature come by ascending neuron.
  template <class Use>
  void visit(std::size_t tile, Use&& use) const {
    const std::size_t first = first_features_[tile];
    std::vector<std::uint64_t> next(
        offsets_.begin() + static_cast<std::ptrdiff_t>(first),
        offsets_.begin() + static_cast<std::ptrdiff_t>(first_features_[tile + 1]));
    const std::uint32_t* starts = starts_.data() + tile * ids_.size();
    const std::uint32_t* ends = starts + ids_.size();
    for (std::size_t n = 0; n < ids_.size(); ++n) {
      if (n + kAhead < ids_.size()) prefetch_from(from_.offsets[ids_[n + kAhead]] + starts[n + kAhead]);
      const std::uint64_t row = from_.offsets[ids_[n]];
      for (std::uint64_t i = row + starts[n]; i < row + ends[n]; ++i)
        use(next[from_.features[i] - first]++, n, i);
    }
  }

  // Max memory of this for `neurons` neurons.
  static double bytes_of(double neurons, double features) {
    return neurons * double(kMaxTiles + 1) * sizeof(std::uint32_t) + features * sizeof(std::uint64_t);
  }

 private:
  static constexpr std::size_t kAhead = 16;  // prefetch distance in neurons

  void prefetch_from(std::uint64_t i) const {
    prefetch(from_.features.data() + i);
    if (from_.small.empty()) prefetch(from_.weights.data() + i);
  }
  void count_weights(int threads);
  void choose_tiles();
  void find_starts(int threads);

  const LinearTerm::Storage& from_;
  std::span<const std::uint32_t> ids_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::size_t> first_features_;  // [tiles + 1]
  // [tiles + 1][neurons]: weights of a neuron whose features are before those of the tile
  AlignedArray<std::uint32_t> starts_;
};

}  // namespace slide

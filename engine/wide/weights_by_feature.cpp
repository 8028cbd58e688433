#include "engine/wide/weights_by_feature.h"

#include <algorithm>
#include <numeric>

#include "engine/base/parallel.h"

namespace slide {

namespace {
constexpr std::size_t kMinTile = std::size_t{1} << 18;  // weights: smaller tiles take longer to begin with
constexpr std::size_t kTaskNeurons = 4096;
constexpr std::size_t kMaxCounters = 8;  // arrays of a number by feature
}  // namespace

WeightsByFeature::WeightsByFeature(const LinearTerm::Storage& from, std::span<const std::uint32_t> ids,
                                   std::size_t features, int threads)
    : from_(from), ids_(ids), offsets_(features + 1) {
  count_weights(threads);
  choose_tiles();
  find_starts(threads);
}

// Sets offsets_. Each of a few counters counts for an equal share of the neurons.
void WeightsByFeature::count_weights(int threads) {
  const std::size_t counters = std::clamp<std::size_t>(static_cast<std::size_t>(threads), 1, kMaxCounters);
  std::vector<std::vector<std::uint32_t>> counts(counters);
  parallel_for(counters, threads, [&](std::size_t c, int) {
    std::vector<std::uint32_t>& count = counts[c];
    count.resize(offsets_.size());
    for (std::size_t n = ids_.size() * c / counters; n < ids_.size() * (c + 1) / counters; ++n) {
      for (std::uint64_t i = from_.offsets[ids_[n]]; i < from_.offsets[ids_[n] + 1]; ++i)
        ++count[from_.features[i] + 1];
    }
  });
  for (const std::vector<std::uint32_t>& count : counts) {
    for (std::size_t f = 1; f < offsets_.size(); ++f) offsets_[f] += count[f];
  }
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
}

// Ends each tile with the feature that makes it large enough.
void WeightsByFeature::choose_tiles() {
  const std::size_t features = offsets_.size() - 1;
  const std::uint64_t size = std::max<std::uint64_t>(kMinTile, offsets_.back() / kMaxTiles + 1);
  first_features_.assign(1, 0);
  while (first_features_.back() < features) {
    const std::uint64_t before = offsets_[first_features_.back()];
    const auto end = std::lower_bound(offsets_.begin(), offsets_.end(), before + size);
    first_features_.push_back(std::min(features, static_cast<std::size_t>(end - offsets_.begin())));
  }
}

// starts_[tile][n]: number of weights of neuron n for features before the tile, in one pass over each row.
void WeightsByFeature::find_starts(int threads) {
  const std::size_t neurons = ids_.size();
  starts_ = AlignedArray<std::uint32_t>((tiles() + 1) * neurons);
  parallel_for((neurons + kTaskNeurons - 1) / kTaskNeurons, threads, [&](std::size_t task, int) {
    for (std::size_t n = task * kTaskNeurons; n < std::min(neurons, (task + 1) * kTaskNeurons); ++n) {
      const std::uint32_t* row = from_.features.data() + from_.offsets[ids_[n]];
      const std::uint64_t size = from_.offsets[ids_[n] + 1] - from_.offsets[ids_[n]];
      std::uint32_t at = 0;
      for (std::size_t tile = 1; tile <= tiles(); ++tile) {
        while (at < size && row[at] < first_features_[tile]) ++at;
        starts_[tile * neurons + n] = at;
      }
    }
  });
}

}  // namespace slide

// Division of the rows of the input layer among shards, and of a block's features by shard.
//
// A shard owns a range of consecutive features, so its features of a sample are consecutive entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/network/row_groups.h"
#include "engine/network/slice.h"

namespace slide {

// Immutable once built; safe to read from any thread.
class FeatureShards {
 public:
  FeatureShards() = default;
  // Divides `features` (renumbered from 0) into `shards` > 0 ranges of about equal cost of an update by
  // `batch` samples of `train`: touched rows and added values, estimated from a few thousand samples. A range
  // begins at a multiple of 16: no two shards share a cache line of 32-bit entries. `dense`: the ids of the
  // dense columns, which all samples have.
  FeatureShards(const Dataset& train, Slice features, Slice dense, std::size_t batch, std::uint32_t shards);

  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  std::uint32_t end(std::uint32_t shard) const { return ends_[shard]; }  // one past its last feature
  std::uint32_t first(std::uint32_t shard) const { return shard == 0 ? 0 : ends_[shard - 1]; }

 private:
  std::vector<std::uint32_t> ends_;
};

// A copy of the features and values of a block's samples, ordered by slice of samples, then shard. The
// shards' threads read consecutive memory this way, which is much faster than the scattered samples.
class ShardedFeatures {
 public:
  // Allocates memory for up to `samples` samples with up to `entries` features in all.
  void reserve(std::uint32_t shards, std::size_t samples, std::size_t entries);
  static std::size_t bytes_of(std::uint32_t shards, std::size_t samples, std::size_t entries) {
    return slices_of(samples, kSliceSamples) * shards *
               (std::min(samples, kSliceSamples) * sizeof(std::uint32_t) + sizeof(std::size_t)) +
           entries * (sizeof(std::uint32_t) + sizeof(float));
  }
  // Copies the samples of slice number `slice` of `rows`, whose ids ascend. Allocates nothing. Safe for
  // different slices at the same time.
  void fill(std::span<const SparseRow> rows, std::size_t slice, const FeatureShards& shards);
  // Appends to `parts` the entries of the block's `samples` samples that `shard` owns, after fill() of all
  // slices. Sources are numbers in the batch, from `first_sample` on.
  void list(std::uint32_t shard, std::size_t samples, std::size_t first_sample,
            std::vector<SamplePart>& parts) const;

 private:
  std::uint32_t shards_ = 0;
  std::size_t each_ = 0;               // max samples of a slice
  std::vector<std::uint32_t> counts_;  // [slices x shards x each_]
  std::vector<std::size_t> starts_;    // [slices x shards], in ids_ and values_
  AlignedArray<std::uint32_t> ids_;
  AlignedArray<float> values_;
};

}  // namespace slide

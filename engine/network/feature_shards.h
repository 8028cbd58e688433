// Which shard owns a feature's row of the first layer, and what a block brings for it.
//
// A shard owns a run of neighbouring features, so that what a sample has for it is one stretch of the sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/network/row_groups.h"
#include "engine/network/slice.h"

namespace slide {

// Immutable once built; safe to read from any thread.
class FeatureShards {
 public:
  FeatureShards() = default;
  // Runs of some of the features of `train`, numbered from the first of them on, that take about the same
  // time in an update by `batch` samples like those of `train`: rows that are touched and values that are
  // added to them, estimated from some thousands of the samples. A run begins at a multiple of 16, so that no
  // two shards share a cache line of 32-bit entries. Needs shards > 0.
  FeatureShards(const Dataset& train, Slice features, std::size_t batch, std::uint32_t shards);

  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  std::uint32_t end(std::uint32_t shard) const { return ends_[shard]; }  // one past its last feature
  std::uint32_t first(std::uint32_t shard) const { return shard == 0 ? 0 : ends_[shard - 1]; }

 private:
  std::vector<std::uint32_t> ends_;
};

// The features and values of one block's samples, slice by slice of its samples, ordered by shard within
// each: a copy, because another thread reads memory that was written in order much faster than samples that
// lie anywhere.
class ShardedFeatures {
 public:
  // Room for `samples` samples with `entries` features in all: the most that fill() may be given.
  void reserve(std::uint32_t shards, std::size_t samples, std::size_t entries);
  static std::size_t bytes_of(std::uint32_t shards, std::size_t samples, std::size_t entries) {
    return slices_of(samples, kSliceSamples) * shards *
               (std::min(samples, kSliceSamples) * sizeof(std::uint32_t) + sizeof(std::size_t)) +
           entries * (sizeof(std::uint32_t) + sizeof(float));
  }
  // Copies the samples of slice number `slice` of all `rows`. Ids ascend in each row. Allocates
  // nothing. May run on different slices at once.
  void fill(std::span<const SparseRow> rows, std::size_t slice, const FeatureShards& shards);
  // Appends what the samples of all slices have for `shard`; the first one is number `first_sample` of its
  // batch. `samples`: in all.
  void list(std::uint32_t shard, std::size_t samples, std::size_t first_sample,
            std::vector<SamplePart>& parts) const;

 private:
  std::uint32_t shards_ = 0;
  std::size_t each_ = 0;               // samples of a slice, at most
  std::vector<std::uint32_t> counts_;  // [slices x shards x each_]
  std::vector<std::size_t> starts_;    // [slices x shards] in the two below
  AlignedArray<std::uint32_t> ids_;
  AlignedArray<float> values_;
};

}  // namespace slide

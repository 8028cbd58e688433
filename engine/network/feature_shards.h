// Which shard owns a feature's row of the first layer, and what a block brings for it.
//
// A shard owns a run of neighbouring features, so that what a sample has for it is one stretch of the sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/network/row_groups.h"

namespace slide {

// Immutable once built; safe to read from any thread.
class FeatureShards {
 public:
  FeatureShards() = default;
  // Runs that take about the same time in an update by `batch` samples like those of `train`: rows that are
  // touched and values that are added to them, estimated from some thousands of the samples. A run begins at
  // a multiple of 16, so that no two shards share a cache line of 32-bit entries. Needs 0 < shards < 65536.
  FeatureShards(const Dataset& train, std::size_t batch, std::uint32_t shards);

  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  std::uint32_t end(std::uint32_t shard) const { return ends_[shard]; }  // one past its last feature
  std::uint32_t owner(std::uint32_t feature) const { return owners_[feature / kTogether]; }

 private:
  static constexpr std::uint32_t kTogether = 16;

  std::vector<std::uint32_t> ends_;
  std::vector<std::uint16_t> owners_;  // of kTogether features each
};

// The features and values of one block's samples, ordered by shard: a copy, because another thread reads
// memory that was written in order much faster than samples that lie anywhere. Not thread-safe.
class ShardedFeatures {
 public:
  // Room for `samples` samples with `entries` features in all: the most that fill() may be given.
  void reserve(std::uint32_t shards, std::size_t samples, std::size_t entries);
  static std::size_t bytes_of(std::uint32_t shards, std::size_t samples, std::size_t entries) {
    return samples * shards * sizeof(std::uint32_t) + 2 * shards * sizeof(std::size_t) +
           entries * (sizeof(std::uint32_t) + sizeof(float));
  }
  // Ids ascend in each row and lie below the number of features. Allocates nothing.
  void fill(std::span<const SparseRow> rows, const FeatureShards& shards);
  // Appends what samples have for `shard`; the first one is number `first_sample` of its batch.
  void list(std::uint32_t shard, std::size_t first_sample, std::vector<SamplePart>& parts) const;

 private:
  std::size_t samples_ = 0;
  std::vector<std::uint32_t> counts_;  // [shards x samples_]
  std::vector<std::size_t> starts_;    // by shard, in the two below
  std::vector<std::size_t> filled_;    // by shard: up to where, while they are filled
  AlignedArray<std::uint32_t> ids_;
  AlignedArray<float> values_;
};

}  // namespace slide

// The rows of a matrix that a step touches, with the contributions to the gradient of each row.
//
// In phase A each block lists its contributions by shard: RowBins for a layer stored by neuron,
// ShardedFeatures (feature_shards.h) for the input layer. In phase B each shard groups its contributions by
// row, on one thread. A row has one shard, so one writer; contributions keep the order of blocks, so sums do
// not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace slide {

struct Contribution {
  std::uint32_t row;
  std::uint32_t source;  // place of the delta in the batch, in a numbering of the layer (DeltaPlaces)
};

// Contributions of one sample to the rows of consecutive features, each with its value.
struct SamplePart {
  const std::uint32_t* rows;  // [count]
  const float* values;        // [count]
  std::uint32_t count;
  std::uint32_t source;
};

// The shard that owns `row`. Rows that share a cache line of 32-bit entries share a shard.
inline std::uint32_t shard_of(std::uint32_t row, std::uint32_t shards) {
  const std::uint32_t mixed = (row >> 4) * 0x9e3779b1u;
  return static_cast<std::uint32_t>(std::uint64_t{mixed} * shards >> 32);
}

// One block's contributions to one matrix, ordered by shard. Not thread-safe.
class RowBins {
 public:
  // Allocates memory for `capacity` contributions; fill() with more allocates.
  void reserve(std::uint32_t shards, std::size_t capacity) {
    offsets_.assign(shards + 1, 0);
    entries_.reserve(capacity);
  }

  static std::size_t bytes_of(std::uint32_t shards, std::size_t capacity) {
    return (std::size_t{shards} + 1) * sizeof(std::size_t) + capacity * sizeof(Contribution);
  }

  // for_each(visit) calls visit(row, source) for every contribution; fill() calls it twice (counting sort),
  // so it must repeat the same sequence.
  template <class ForEach>
  void fill(ForEach&& for_each) {
    const auto shards = static_cast<std::uint32_t>(offsets_.size() - 1);
    offsets_.assign(shards + 1, 0);
    for_each([&](std::uint32_t row, std::uint32_t) { ++offsets_[shard_of(row, shards)]; });
    std::size_t total = 0;
    for (std::size_t& offset : offsets_) total += std::exchange(offset, total);
    entries_.resize(total);
    for_each([&](std::uint32_t row, std::uint32_t source) {
      entries_[offsets_[shard_of(row, shards)]++] = {row, source};
    });
    for (std::size_t s = shards; s > 0; --s) offsets_[s] = offsets_[s - 1];
    offsets_[0] = 0;
  }

  std::span<const Contribution> shard(std::uint32_t s) const {
    return {entries_.data() + offsets_[s], offsets_[s + 1] - offsets_[s]};
  }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<Contribution> entries_;
};

// One shard's contributions of a step, grouped by row in order of first appearance. Not thread-safe.
class RowGroups {
 public:
  void reserve(std::size_t capacity);
  static std::size_t bytes_of(std::size_t capacity) {
    return 4 * capacity * sizeof(std::uint32_t) + capacity * sizeof(float);
  }

  // Groups the concatenation of `parts`, O(contributions). `slots` [rows of the matrix]: working memory, 0
  // before the first call; shards may share it, as each uses the entries of its own rows only. `stamp`: not
  // 0, and different in every call for the same slots (the number of the step).
  void build(std::span<const std::span<const Contribution>> parts, std::uint64_t* slots, std::uint32_t stamp);
  void build(std::span<const SamplePart> parts, std::uint64_t* slots, std::uint32_t stamp);

  std::size_t size() const { return rows_.size(); }
  std::uint32_t row(std::size_t group) const { return rows_[group]; }
  std::span<const std::uint32_t> rows() const { return rows_; }
  std::span<const std::uint32_t> sources(std::size_t group) const {
    return {sources_.data() + offsets_[group], offsets_[group + 1] - offsets_[group]};
  }
  // Values of sources(group), for groups of SampleParts.
  const float* values(std::size_t group) const { return values_.data() + offsets_[group]; }

 private:
  template <class Part>
  std::uint32_t count_rows(std::span<const Part> parts, std::uint64_t* slots, std::uint64_t stamp);
  template <class Part>
  void group(std::span<const Part> parts, std::uint64_t* slots, std::uint32_t stamp);

  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> slot_of_;  // by contribution: its group
  std::vector<std::uint32_t> sources_;
  std::vector<float> values_;
};

}  // namespace slide

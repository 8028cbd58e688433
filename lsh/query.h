// What a query of the index is made of: the block of vectors it asks about and the memory it works in.
// Plain data; a scratch belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/kernels/int8.h"

namespace slide::lsh {

// A matrix of weights, in fp32, in bfloat16 pairs (engine/kernels/bf16.h) or in bytes
// (engine/kernels/int8.h): one of the pointers is set, the stride counts its elements.
struct WeightRows {
  const float* fp32 = nullptr;
  std::size_t stride = 0;
  const std::uint32_t* pairs = nullptr;
  kernels::Int8Rows int8 = {};
  const float* bias = nullptr;  // one a row: a weight of an input that is always 1; or none
};

// A block of vectors in unit-major layout: xt[k*lanes + b], k < inner, b < samples <= lanes
// (lanes 1, or a multiple of kernels::kLaneMultiple). xt is aligned to kAlignment unless lanes is 1.
struct QueryBlock {
  const float* xt = nullptr;
  std::size_t inner = 0;
  std::size_t lanes = 0;
  std::size_t samples = 0;
  WeightRows rows = {};  // search policy: those that what is found is scored by, where it should be
};

// Working memory of hash functions. Each family uses the parts it needs; HashFunctions::prepare() sizes them.
struct HashScratch {
  AlignedArray<float> values;         // projections, or the largest value so far
  std::vector<std::uint32_t> codes;   // row ids of a product, or positions of the largest values
  std::vector<std::uint32_t> ids;     // features of a sparse vector
  std::vector<float> dense;           // one vector over all features; zero between calls
  AlignedArray<float> rows;           // weight rows gathered ...
  AlignedArray<float> packed;         // ... and transposed into a block
  std::vector<std::uint32_t> prints;  // fingerprints of that block
  std::vector<float> norms;           // its rows' squared lengths
  std::vector<float> shift;           // what each projection of a query starts from
};

// Working memory of queries on one thread; reused, so that a warm query allocates nothing.
struct QueryScratch {
  HashScratch hash;
  std::vector<std::uint32_t> fingerprints;  // [table in order][lane]
  std::vector<std::uint32_t> table_order;
  std::vector<std::uint32_t> starts;     // by sample: where in its bucket a sample begins to take
  std::vector<std::uint32_t> counts;     // by neuron id, for topk and threshold; all zero between queries
  std::vector<std::uint32_t> counted;    // ids with a count, and one place to write to
  std::vector<std::uint32_t> histogram;  // ids by count
  std::vector<std::uint64_t> ranked;     // counted ids as sortable keys
  // Of the search policy.
  std::vector<std::uint32_t> flips;  // [table][lane]: the least certain bit of a fingerprint
  std::vector<std::span<const std::uint32_t>> buckets;  // that the samples which ask look into
  std::vector<std::uint16_t> times;     // by neuron id: `none` + buckets it was found in; less is none, too
  std::uint16_t none = 0;               // no less than any of the queries before
  std::vector<std::uint32_t> repeated;  // ids found in two buckets or more, and one place to write to
  std::vector<std::uint32_t> found;     // candidates
  AlignedArray<float> asked;            // [dim x lanes] the samples that ask
  AlignedArray<float> scores;           // [candidate x lanes]
};

}  // namespace slide::lsh

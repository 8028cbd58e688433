// The input of a query, a block of vectors, and its working memory. Plain data; a scratch belongs to one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/kernels/int8.h"

namespace slide::lsh {

// A matrix of weights, in fp32, in bfloat16 pairs (engine/kernels/bf16.h) or in bytes
// (engine/kernels/int8.h): one of the pointers is set; the stride is in its elements.
struct WeightRows {
  const float* fp32 = nullptr;
  std::size_t stride = 0;
  const std::uint32_t* pairs = nullptr;
  kernels::Int8Rows int8 = {};
  const float* bias = nullptr;  // [row], weight of the constant input 1; or nullptr
};

// A block of vectors in unit-major layout: xt[k*lanes + b], k < inner, b < samples <= lanes.
// lanes is 1 or a multiple of kernels::kLaneMultiple. xt is aligned to kAlignment unless lanes is 1.
struct QueryBlock {
  const float* xt = nullptr;
  std::size_t inner = 0;
  std::size_t lanes = 0;
  std::size_t samples = 0;
  WeightRows rows = {};  // search policy: the rows that score candidates, if any
};

// Working memory of hash functions; HashFunctions::prepare() allocates what a family needs.
struct HashScratch {
  AlignedArray<float> values;         // projections, or running maxima
  std::vector<std::uint32_t> codes;   // row ids of a product, or positions of maxima
  std::vector<std::uint32_t> ids;     // features of a sparse vector
  std::vector<float> dense;           // one vector over all features; zero between calls
  AlignedArray<float> rows;           // gathered weight rows ...
  AlignedArray<float> packed;         // ... and transposed into a block
  std::vector<std::uint32_t> prints;  // fingerprints of that block
  std::vector<float> norms;           // its rows' squared lengths
  std::vector<float> shift;           // initial value of each projection, or biases
};

// Working memory of queries on one thread. Reused: queries allocate nothing after the first.
struct QueryScratch {
  HashScratch hash;
  std::vector<std::uint32_t> fingerprints;  // [table in order][lane]
  std::vector<std::uint32_t> table_order;
  std::vector<std::uint32_t> starts;     // by sample: the entry of its bucket to begin at
  std::vector<std::uint32_t> counts;     // by neuron id, for topk and threshold; all zero between queries
  std::vector<std::uint32_t> counted;    // ids with a count, and one write-only slot
  std::vector<std::uint32_t> histogram;  // ids by count
  std::vector<std::uint64_t> ranked;     // counted ids as sortable keys
  // Used by the search policy:
  std::vector<std::uint32_t> flips;  // [table][lane]: mask of the least certain bit of a fingerprint
  std::vector<std::span<const std::uint32_t>> buckets;  // that the querying samples read
  // For each neuron id, `zero` + number of buckets with the id. Values up to `zero` are from earlier queries
  // and count as zero: a query need not clear the array.
  AlignedArray<std::uint16_t> bucket_counts;
  std::uint16_t zero = 0;
  std::vector<std::uint32_t> repeated;  // ids in two buckets or more, and one write-only slot
  std::vector<std::uint32_t> found;     // candidates
  AlignedArray<float> queries;          // [dim][lanes]: the querying samples
  std::vector<std::uint32_t> classes;   // candidates by class of their distance
  AlignedArray<float> scores;           // [candidate][lane]
};

}  // namespace slide::lsh

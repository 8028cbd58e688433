// The index of a trained layer: which of its neurons have the largest w.x + bias for a vector x? Made once
// from weights that no longer change, for inference; NeuronIndex follows weights while they are trained.
//
// Neurons with long rows win most often, and for most inputs (Yan et al. 2018, "Norm-Ranging LSH for Maximum
// Inner Product Search"): the one in 24 with the longest, `always()`, are to be scored for every sample, at
// the speed of a matrix product. The others are in hash tables: signs of Gaussian projections (Charikar
// 2002), of which a query looks into the bucket of its own fingerprint and the one reached by flipping its
// least certain bit (Lv et al. 2007, "Multi-Probe LSH"). The ids found in most tables come first; those
// found in one only, which are nearly all, are hardly ever among the best. Directions and vectors are
// projected in bfloat16; a bias counts as one more weight, its input as 1.
//
// Immutable; queries may run on many threads, each with its own scratch. Contents and answers depend on
// weights and seed only, never on thread count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "lsh/query.h"

namespace slide::lsh {

// Working memory of queries on one thread.
struct SearchScratch {
  AlignedArray<float> projections;           // [function][lane] of the block asked about
  std::vector<std::uint32_t> prints;         // [table][lane]: fingerprints
  std::vector<std::uint32_t> least_certain;  // [table][lane]: the bit of the projection nearest to 0
  std::vector<std::span<const std::uint32_t>> buckets;  // of one sample
  std::vector<std::uint16_t> counts;    // by neuron: `none` + tables it was found in; less is none, too
  std::uint16_t none = 0;               // no less than any count of the queries before
  std::vector<std::uint32_t> repeated;  // neurons found in two tables or more, and one place to write to
};

class SearchIndex {
 public:
  // Over row i of `dim` weights and biases[i], for each i. Throws InputError without any rows.
  SearchIndex(const WeightRows& rows, std::size_t dim, std::span<const float> biases, std::uint64_t seed,
              int threads);

  // Neurons to score for every sample, ascending; find() does not return them. Few neurons: none.
  std::span<const std::uint32_t> always() const { return always_; }

  // Memory for blocks of up to `lanes` lanes, so that no query allocates.
  SearchScratch make_scratch(std::size_t lanes) const;
  // Projects all samples of a block; block.inner == dim.
  void project(const QueryBlock& block, SearchScratch& scratch) const;
  // Replaces `out` by up to `wanted` distinct ids for one sample of the block projected last, `lanes` wide:
  // those found in most tables, among equals those found so often first. Of those found in one table there
  // are no more than make the answer 32 ids, or an eighth of `wanted`.
  void find(std::size_t sample, std::size_t lanes, std::size_t wanted, SearchScratch& scratch,
            std::vector<std::uint32_t>& out) const;

  std::size_t bytes() const;

 private:
  void draw(std::uint64_t seed);
  void choose_always(const WeightRows& rows, std::span<const float> biases, int threads);
  void hash_rows(const WeightRows& rows, std::span<const float> biases, std::uint16_t* codes,
                 int threads) const;
  void fill(std::size_t table, const std::uint16_t* codes);
  void list_buckets(std::size_t sample, std::size_t lanes, SearchScratch& scratch) const;
  std::size_t count(SearchScratch& scratch) const;

  std::size_t neurons_;
  std::size_t dim_;
  std::size_t k_;                            // K: bits of a fingerprint
  std::size_t stride_;                       // of projections_, in words
  AlignedArray<std::uint32_t> projections_;  // [functions][stride_], in bfloat16 pairs
  std::vector<float> bias_projections_;      // [functions]
  std::vector<std::uint32_t> functions_;     // 0, 1, 2, ...
  std::vector<std::uint32_t> always_;
  std::vector<std::uint32_t> filed_;    // neurons in the tables, ascending
  AlignedArray<std::uint32_t> starts_;  // [table][bucket], and the end of the last
  AlignedArray<std::uint32_t> ids_;     // [table][filed], bucket by bucket
};

}  // namespace slide::lsh

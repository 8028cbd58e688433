// Static LSH index of a trained layer for maximum inner product search: which neurons have the largest w.x +
// bias for a vector x? Built once from fixed weights, for inference; NeuronIndex follows weights during
// training.
//
// Neurons with large norm win most often, and for most inputs (Yan et al. 2018, "Norm-Ranging LSH for Maximum
// Inner Product Search"): the 1/24 of the neurons farthest from the mean row, `always()`, are to be scored
// exactly for every sample, as one matrix product. The others are in hash tables: signs of Gaussian
// projections (SimHash, Charikar 2002). A query probes in each table the bucket of its fingerprint and the
// bucket with its least certain bit flipped (multi-probe LSH, Lv et al. 2007). Ids are ranked by the number
// of tables that contain them; ids found once, the vast majority, are rarely among the top k. Vectors are
// projected in bfloat16; a bias counts as one more weight, with input 1.
//
// Immutable, safe from any thread with one SearchScratch per thread. Contents and answers depend only on
// weights and seed, not on the number of threads.
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
  AlignedArray<float> projections;           // [function][lane] of the current block
  std::vector<std::uint32_t> prints;         // [table][lane]
  std::vector<std::uint32_t> least_certain;  // [table][lane]: the bit whose projection is nearest to 0
  std::vector<std::span<const std::uint32_t>> buckets;  // of one sample
  // by neuron: `none` + number of tables with it; values up to `none` mean zero
  std::vector<std::uint16_t> counts;
  std::uint16_t none = 0;               // upper bound of all counts of previous queries
  std::vector<std::uint32_t> repeated;  // neurons found at least twice, plus one write-only slot
};

class SearchIndex {
 public:
  // Indexes row i of `dim` weights and biases[i], for each i. Throws InputError where there are no rows.
  SearchIndex(const WeightRows& rows, std::size_t dim, std::span<const float> biases, std::uint64_t seed,
              int threads);

  // Neurons to score for every sample, ascending; find() does not return them. Empty for few neurons.
  std::span<const std::uint32_t> always() const { return always_; }

  // Memory for blocks of up to `lanes` lanes; queries do not allocate.
  SearchScratch make_scratch(std::size_t lanes) const;
  // Projects all samples of a block; block.inner == dim.
  void project(const QueryBlock& block, SearchScratch& scratch) const;
  // Replaces `out` by up to `wanted` distinct ids for one sample of the last projected block, which is
  // `lanes` wide: ids found in most tables, ties in order of discovery. Ids found in one table only fill the
  // answer up to max(32, wanted / 8) ids.
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
  AlignedArray<std::uint32_t> projections_;  // [functions][stride_], bfloat16 pairs
  std::vector<float> bias_projections_;      // [functions]
  std::vector<std::uint32_t> functions_;     // 0, 1, 2, ...
  std::vector<std::uint32_t> always_;
  std::vector<std::uint32_t> filed_;    // neurons in the tables, ascending
  AlignedArray<std::uint32_t> starts_;  // [table][bucket], and the end of the last bucket
  AlignedArray<std::uint32_t> ids_;     // [table][filed], by bucket
};

}  // namespace slide::lsh

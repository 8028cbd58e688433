// Densified one-permutation MinHash (Shrivastava 2017) of the set of a vector's largest values: the
// 1/topk_ratio of all features with the largest values (ties: the lower id), without zeros. Permutations cut
// the features into bins, one per hash function; the code is the position of the first feature of the bin in
// the set; an empty bin borrows the code of another bin. Sets with a large Jaccard index share codes often.
// The empty set has code 0. Thread safety as in HashFunctions.
#pragma once

#include "lsh/feature_bins.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

class Minhash final : public HashFunctions {
 public:
  Minhash(const HashConfig& config, std::size_t dim, std::uint64_t seed);

  void draw(std::uint64_t generation) override;
  void prepare(HashScratch& scratch, std::size_t lanes) const override;
  void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                  std::uint32_t* fingerprints) const override;
  void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                   std::span<const std::uint32_t> tables, HashScratch& scratch,
                   std::uint32_t* fingerprints) const override;
  std::size_t bytes() const override { return bins_.bytes(); }

 private:
  void hash_set(std::size_t found, std::span<const std::uint32_t> tables, HashScratch& scratch,
                std::uint32_t* fingerprints, std::size_t stride) const;

  std::size_t set_size_;
  FeatureBins bins_;
};

}  // namespace slide::lsh

// Densified winner-take-all hashing, DWTA (Chen and Shrivastava 2018): permutations cut the features into
// bins, one bin per hash function; the code is the position of the bin's maximum. Zeros count as absent; an
// empty bin borrows the code of another bin. Ties: the lowest position. The zero vector has code 0. Thread
// safety as in HashFunctions.
#pragma once

#include "lsh/feature_bins.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

class Dwta final : public HashFunctions {
 public:
  Dwta(const HashConfig& config, std::size_t dim, std::uint64_t seed);

  void draw(std::uint64_t generation) override;
  void prepare(HashScratch& scratch, std::size_t lanes) const override;
  void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                  std::uint32_t* fingerprints) const override;
  void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                   std::span<const std::uint32_t> tables, HashScratch& scratch,
                   std::uint32_t* fingerprints) const override;
  std::size_t bytes() const override { return bins_.bytes(); }

 private:
  std::uint32_t borrowed_code(const QueryBlock& block, std::size_t lane, std::size_t bin) const;

  FeatureBins bins_;
};

}  // namespace slide::lsh

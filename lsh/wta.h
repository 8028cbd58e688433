// Winner-take-all hashing, WTA (Yagnik, Strelow, Ross and Lin 2011): a hash function compares the first
// bin_size entries of a random permutation of the vector; the code is the position of the maximum, which
// depends on the order of values only. Ties: the lowest position. Thread safety as in HashFunctions.
#pragma once

#include "lsh/hash_functions.h"

namespace slide::lsh {

class Wta final : public HashFunctions {
 public:
  Wta(const HashConfig& config, std::size_t dim, std::uint64_t seed);

  void draw(std::uint64_t generation) override;
  void prepare(HashScratch& scratch, std::size_t lanes) const override;
  void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                  std::uint32_t* fingerprints) const override;
  void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                   std::span<const std::uint32_t> tables, HashScratch& scratch,
                   std::uint32_t* fingerprints) const override;
  std::size_t bytes() const override { return windows_.size() * sizeof(std::uint32_t); }

 private:
  std::size_t width_;                   // entries compared: bin_size, or dim if that is smaller
  std::vector<std::uint32_t> windows_;  // [functions][width_] features
};

}  // namespace slide::lsh

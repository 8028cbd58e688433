// SimHash: the sign of a random projection (Charikar 2002), with sparse projections of entries +1 and -1 with
// probability 1/6 each and 0 else (Achlioptas 2003). Two vectors at angle a share a code with probability
// 1 - a/pi. Option: the asymmetric transform for maximum inner product search (Neyshabur and Srebro 2015).
#pragma once

#include "engine/base/aligned.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

class Simhash final : public HashFunctions {
 public:
  Simhash(const HashConfig& config, std::size_t dim, std::uint64_t seed);

  void draw(std::uint64_t generation) override;
  void fit(const RowSet& rows, int threads) override;
  void save(ByteWriter& out) const override { out.put(largest_norm2_); }
  void load(ByteReader& in) override { largest_norm2_ = in.get<float>(); }
  void prepare(HashScratch& scratch, std::size_t lanes) const override;
  void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                  std::uint32_t* fingerprints) const override;
  void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                   std::span<const std::uint32_t> tables, HashScratch& scratch,
                   std::uint32_t* fingerprints) const override;
  std::size_t bytes() const override;

  // Entry `feature` of the projection of function p = t*K + j: -1, 0 or 1.
  int sign(std::size_t p, std::size_t feature) const { return signs_[feature * functions() + p]; }

 private:
  void hash_row_block(const QueryBlock& block, HashScratch& scratch,
                      std::uint32_t* fingerprints) const override;
  void project(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch) const;
  void add_signs(std::size_t feature, const float* x, std::size_t lanes,
                 std::span<const std::uint32_t> tables, float* z) const;
  void extra_coordinates(const QueryBlock& block, float* extra) const;
  void pack_signs(std::size_t tables, std::size_t lanes, const float* z, const float* scale,
                  const float* extra, std::uint32_t* fingerprints) const;

  std::size_t group_;  // tables projected at once
  bool asymmetric_;
  AlignedArray<std::int8_t> signs_;  // [dim][functions]
  AlignedArray<float> projections_;  // [functions][stride_], the same as floats; empty for very long vectors
  std::size_t stride_ = 0;
  std::vector<float> extra_;  // [functions], the projections' entries for the extra coordinate
  float largest_norm2_ = 0;   // squared norm of the longest row when fit() saw them
};

}  // namespace slide::lsh

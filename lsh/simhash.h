// SimHash: the sign of a random projection (Charikar 2002), with sparse projections of entries +1 and -1 with
// probability 1/6 each and 0 else (Achlioptas 2003). Two vectors at angle a share a code with probability
// 1 - a/pi. A bias counts as one more weight, whose input is 1. Option: the asymmetric transform for maximum
// inner product search (Neyshabur and Srebro 2015, section 4): what a row lacks of the frame's length is
// filled up in coordinates that a query has none of, so that its angle orders rows by inner product. Each row
// is filled up in a direction of its own: short rows spread over the buckets in place of sharing one.
#pragma once

#include "engine/base/aligned.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

class Simhash final : public HashFunctions {
 public:
  Simhash(const HashConfig& config, std::size_t dim, std::uint64_t seed);

  void draw(std::uint64_t generation) override;
  void prepare(HashScratch& scratch, std::size_t lanes) const override;
  void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                  std::uint32_t* fingerprints) const override;
  void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                   std::span<const std::uint32_t> tables, HashScratch& scratch,
                   std::uint32_t* fingerprints) const override;
  void hash_probes(const QueryBlock& block, HashScratch& scratch, std::uint32_t* fingerprints,
                   std::uint32_t* flips) const override;
  std::size_t bytes() const override;
  // Of functions of such a configuration.
  static double bytes_of(const HashConfig& config, std::size_t dim);

  // Entry `feature` of the projection of function p = t*K + j: -1, 0 or 1.
  int sign(std::size_t p, std::size_t feature) const { return signs_[feature * functions() + p]; }

 private:
  void hash_centred(const CentredRows& block, HashScratch& scratch,
                    std::uint32_t* fingerprints) const override;
  void hash(const QueryBlock& block, std::span<const std::uint32_t> tables, bool rows, HashScratch& scratch,
            std::uint32_t* fingerprints, std::uint32_t* flips) const;
  void fill_up(const CentredRows& block) const;
  void project(const QueryBlock& block, std::span<const std::uint32_t> tables, bool rows,
               HashScratch& scratch) const;
  void add_signs(std::size_t feature, const float* x, std::size_t lanes,
                 std::span<const std::uint32_t> tables, float* z) const;
  float start_of(std::size_t p) const { return frame().has_bias() ? tails_[p * kTail] : 0.0F; }

  std::size_t group_;  // tables projected at once
  bool asymmetric_;
  AlignedArray<std::int8_t> signs_;  // [dim][functions]
  // [functions][stride_], the same as floats with the tails behind them; empty for very long vectors
  AlignedArray<float> projections_;
  std::size_t stride_ = 0;
  std::vector<float> tails_;  // [functions][kTail], the projections' entries for what is behind a row
};

}  // namespace slide::lsh

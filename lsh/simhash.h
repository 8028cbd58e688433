// SimHash: the sign of a random projection (Charikar 2002). Projections are sparse, +1 and -1 with
// probability 1/6 each, else 0 (Achlioptas 2003). Two vectors at angle a share a code with probability 1 -
// a/pi. A bias is one more weight, with input 1.
//
// `asymmetric` adds a transform for maximum inner product search (Neyshabur and Srebro 2015, section 4): a
// row is padded to the norm of the frame in coordinates that are 0 in queries; its angle then orders rows by
// inner product. Each row has a padding direction of its own, by id: short rows spread over the buckets.
// Thread safety as in HashFunctions.
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
  // bytes() of the functions of `config`.
  static double bytes_of(const HashConfig& config, std::size_t dim);

  // Entry `feature` of projection p = table*K + j: -1, 0 or 1.
  int sign(std::size_t p, std::size_t feature) const { return signs_[feature * functions() + p]; }

 private:
  void hash_centred(const CentredRows& block, HashScratch& scratch,
                    std::uint32_t* fingerprints) const override;
  void hash(const QueryBlock& block, std::span<const std::uint32_t> tables, bool rows, HashScratch& scratch,
            std::uint32_t* fingerprints, std::uint32_t* flips) const;
  void pad_rows(const CentredRows& block) const;
  void project(const QueryBlock& block, std::span<const std::uint32_t> tables, bool rows,
               HashScratch& scratch) const;
  void add_signs(std::size_t feature, const float* x, std::size_t lanes,
                 std::span<const std::uint32_t> tables, float* z) const;
  float start_of(std::size_t p) const { return frame().has_bias() ? tails_[p * kTail] : 0.0F; }

  std::size_t group_;  // tables projected together
  bool asymmetric_;
  AlignedArray<std::int8_t> signs_;  // [dim][functions]
  // [functions][stride_]: signs_ as floats, then tails_; empty for more than kWidestDense features
  AlignedArray<float> projections_;
  std::size_t stride_ = 0;
  std::vector<float> tails_;  // [functions][kTail]: entries for bias and padding
};

}  // namespace slide::lsh

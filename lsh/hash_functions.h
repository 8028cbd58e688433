// One family of locality-sensitive hash functions: K for each of L tables. Turns vectors into fingerprints (K
// codes packed, code j in bits [j*bits, (j+1)*bits)), so that similar vectors often share a fingerprint.
//
// A vector has one fingerprint a table, whichever way it comes in: as lane of a block, as weight row, as
// sparse vector. (SimHash: up to the rounding of a projection that is zero within a few ulp.) That holds
// until fit(): from then on rows are hashed centred (row_frame.h), which moves no neuron before another. Rows
// whose weights are all 0 tell nothing: each is filed under a fingerprint of its own, by its id. Hashing is
// const and thread-safe with one scratch a thread; draw() and fit() are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/byte_io.h"
#include "lsh/fetch_row.h"
#include "lsh/hash_config.h"
#include "lsh/query.h"
#include "lsh/row_frame.h"

namespace slide::lsh {

// Some rows of a weight matrix: `count` ids, or the `count` consecutive rows from `first` on when ids is
// null.
struct RowSet {
  WeightRows rows;
  const std::uint32_t* ids = nullptr;
  std::size_t first = 0;
  std::size_t count = 0;

  std::size_t id(std::size_t i) const { return ids != nullptr ? ids[i] : first + i; }
  RowSet part(std::size_t begin, std::size_t size) const {
    return {rows, ids != nullptr ? ids + begin : nullptr, first + begin, size};
  }
};

constexpr std::size_t kRowLanes = 32;  // weight rows hashed at once

// packed[k*kRowLanes + i] = weight k of the i-th of at most kRowLanes rows; lanes without a row keep what
// they held. buffer[kRowLanes * dim] is working memory.
void pack_rows(const RowSet& set, std::size_t dim, float* buffer, float* packed);

class HashFunctions {
 public:
  HashFunctions(const HashConfig& config, std::size_t dim, std::uint64_t seed);
  virtual ~HashFunctions() = default;
  HashFunctions(const HashFunctions&) = delete;
  HashFunctions& operator=(const HashFunctions&) = delete;

  // Draws the functions of `generation`; the same seed and generation give the same functions.
  virtual void draw(std::uint64_t generation) = 0;
  // Learns from `count` rows what their hashing is relative to.
  void fit(const WeightRows& rows, std::size_t count, int threads) { frame_.fit(rows, count, threads); }
  // What fit() learnt.
  void save(ByteWriter& out) const { frame_.save(out); }
  void load(ByteReader& in) { frame_.load(in); }
  const RowFrame& frame() const { return frame_; }
  // Sizes `scratch` for blocks of up to `lanes` samples.
  virtual void prepare(HashScratch& scratch, std::size_t lanes) const = 0;

  // fingerprints[i*lanes + b]: lane b of the block in tables[i]. Only lanes of samples mean anything.
  // block.inner == dim().
  virtual void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables,
                          HashScratch& scratch, std::uint32_t* fingerprints) const = 0;
  // fingerprints[i]: the vector in tables[i]. ids ascending, below dim(); features not named are zero.
  virtual void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                           std::span<const std::uint32_t> tables, HashScratch& scratch,
                           std::uint32_t* fingerprints) const = 0;
  // hash_block in all tables. flips[t*lanes + b] has the bit set alone that is the least certain one of that
  // fingerprint, or is 0 where the family knows none.
  virtual void hash_probes(const QueryBlock& block, HashScratch& scratch, std::uint32_t* fingerprints,
                           std::uint32_t* flips) const;
  // fingerprints[t*stride + i]: row i in table t, for all tables; norms2[i], unless nullptr: its squared
  // length, centred.
  void hash_rows(const RowSet& rows, HashScratch& scratch, std::uint32_t* fingerprints, std::size_t stride,
                 float* norms2 = nullptr) const;

  virtual std::size_t bytes() const = 0;

  std::size_t dim() const { return dim_; }
  std::size_t k() const { return k_; }
  std::size_t tables() const { return all_tables_.size(); }
  std::size_t functions() const { return k_ * tables(); }
  std::uint32_t bits() const { return bits_; }

 protected:
  static constexpr std::size_t kTail = 17;  // places behind a centred row: its bias, and what fills it up

  // Weight rows, centred: xt[(dim + kTail) * lanes]; place `dim` is the bias, the others are the callee's.
  struct CentredRows {
    float* xt;
    std::size_t lanes;
    RowSet rows;
    const float* norms2;  // squared lengths, bias and all
  };
  // As hash_block over all tables.
  virtual void hash_centred(const CentredRows& block, HashScratch& scratch,
                            std::uint32_t* fingerprints) const;
  // Sizes what hash_rows needs.
  void prepare_rows(HashScratch& scratch) const;

  std::uint64_t seed() const { return seed_; }
  std::span<const std::uint32_t> all_tables() const { return all_tables_; }

 private:
  bool wide() const;
  void centre(const CentredRows& block, std::uint8_t* blank, float* norms2) const;
  void scatter(const CentredRows& block, const std::uint8_t* blank, std::uint32_t* fingerprints) const;
  void prefetch_rows(const RowSet& rows, std::size_t begin, std::size_t count) const;

  std::size_t dim_;
  std::size_t k_;
  std::uint32_t bits_;
  std::uint64_t seed_;
  RowFrame frame_;
  std::vector<std::uint32_t> all_tables_;
};

// 32 bits that look random, of a neuron's id and another number.
inline std::uint32_t scattered(std::size_t id, std::uint32_t number) {
  std::uint32_t h = static_cast<std::uint32_t>(id) * 0x9e3779b1U + number * 0x85ebca77U;
  h = (h ^ (h >> 15)) * 0x85ebca77U;
  h = (h ^ (h >> 13)) * 0xc2b2ae3dU;
  return h ^ (h >> 16);
}

// Grows `v` to at least `size` elements, the contents of no matter; never shrinks: repeated calls allocate
// once.
template <class T>
void grow(std::vector<T>& v, std::size_t size) {
  if (v.size() < size) v.resize(size);
}
template <class T>
void grow(AlignedArray<T>& v, std::size_t size) {
  if (v.size() < size) v = AlignedArray<T>(size);
}

}  // namespace slide::lsh

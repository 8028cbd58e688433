// A family of locality-sensitive hash functions, K for each of L tables. Maps vectors to fingerprints: K
// packed codes, code j in bits [j*bits, (j+1)*bits). Similar vectors often share a fingerprint.
//
// Invariants: a vector has the same fingerprint in a table as column of a block, as weight row and as sparse
// vector (SimHash: except projections that are zero within a few ulp). After fit(), rows are hashed centred
// (row_frame.h), which keeps the order of their inner products with a query. Rows of zeros get a
// pseudo-random fingerprint by id. Thread safety: hashing is const and thread-safe with one scratch per
// thread; draw(), fit() and load() run alone.
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

// `count` rows of a weight matrix: rows ids[0], ..., ids[count - 1], or consecutive rows from `first` when
// ids is null.
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

constexpr std::size_t kRowLanes = 32;  // weight rows hashed together

// packed[k*kRowLanes + i] = weight k of row i of `set`, i < set.count <= kRowLanes; other columns are
// unchanged. buffer[kRowLanes * dim] is working memory. O(dim * count).
void pack_rows(const RowSet& set, std::size_t dim, float* buffer, float* packed);

class HashFunctions {
 public:
  HashFunctions(const HashConfig& config, std::size_t dim, std::uint64_t seed);
  virtual ~HashFunctions() = default;
  HashFunctions(const HashFunctions&) = delete;
  HashFunctions& operator=(const HashFunctions&) = delete;

  // Samples the functions of `generation`. Deterministic in (seed, generation).
  virtual void draw(std::uint64_t generation) = 0;
  // Fits mean and length (RowFrame) to `count` rows.
  void fit(const WeightRows& rows, std::size_t count, int threads) { frame_.fit(rows, count, threads); }
  // The state of fit().
  void save(ByteWriter& out) const { frame_.save(out); }
  void load(ByteReader& in) { frame_.load(in); }
  const RowFrame& frame() const { return frame_; }
  // Allocates `scratch` for blocks of up to `lanes` columns.
  virtual void prepare(HashScratch& scratch, std::size_t lanes) const = 0;

  // fingerprints[i*lanes + b] = column b in tables[i]; columns from block.samples on are undefined.
  // block.inner == dim(). SimHash: O(dim * K * tables * lanes).
  virtual void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables,
                          HashScratch& scratch, std::uint32_t* fingerprints) const = 0;
  // fingerprints[i] = the sparse vector in tables[i]. ids ascending, below dim().
  virtual void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                           std::span<const std::uint32_t> tables, HashScratch& scratch,
                           std::uint32_t* fingerprints) const = 0;
  // hash_block() in all tables. flips[t*lanes + b]: the mask of the least certain bit of that fingerprint,
  // for multi-probe; 0 where the family has none.
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
  static constexpr std::size_t kTail = 17;  // values after a centred row: its bias and its padding

  // Centred weight rows: xt[dim + kTail][lanes]; row `dim` of xt is the bias, the callee writes the padding.
  struct CentredRows {
    float* xt;
    std::size_t lanes;
    RowSet rows;
    const float* norms2;  // squared lengths, bias included
  };
  // hash_block() of centred rows, in all tables.
  virtual void hash_centred(const CentredRows& block, HashScratch& scratch,
                            std::uint32_t* fingerprints) const;
  // Allocates what hash_rows() needs.
  void prepare_rows(HashScratch& scratch) const;

  std::uint64_t seed() const { return seed_; }
  std::span<const std::uint32_t> all_tables() const { return all_tables_; }

 private:
  // Whether rows are too long to transpose kRowLanes of them; each is then hashed alone.
  bool hashes_singly() const;
  void centre(const CentredRows& block, std::uint8_t* is_zero, float* norms2) const;
  // Sets the fingerprints of rows of zeros.
  void hash_zero_rows(const CentredRows& block, const std::uint8_t* is_zero,
                      std::uint32_t* fingerprints) const;
  void prefetch_rows(const RowSet& rows, std::size_t begin, std::size_t count) const;

  std::size_t dim_;
  std::size_t k_;
  std::uint32_t bits_;
  std::uint64_t seed_;
  RowFrame frame_;
  std::vector<std::uint32_t> all_tables_;
};

// 32-bit hash of the pair (id, number), with avalanche.
inline std::uint32_t id_hash(std::size_t id, std::uint32_t number) {
  std::uint32_t h = static_cast<std::uint32_t>(id) * 0x9e3779b1U + number * 0x85ebca77U;
  h = (h ^ (h >> 15)) * 0x85ebca77U;
  h = (h ^ (h >> 13)) * 0xc2b2ae3dU;
  return h ^ (h >> 16);
}

// Grows `v` to at least `size` elements, with undefined contents. Never shrinks: repeated calls allocate
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

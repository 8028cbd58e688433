// The index of one layer: L hash tables over the weight rows of its neurons. A query returns neurons that are
// likely to have a large output for an input; the tables follow the weights as they change.
//
// Invariants: sizes of 0 in the configuration are replaced by sized_for(). Contents depend on weights, seed
// and the history of calls, not on the number of threads. Thread safety: queries are const and run in
// parallel, each with its own QueryScratch; rebuild(), rehash() and load() run alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/byte_io.h"
#include "engine/base/rng.h"
#include "lsh/hash_config.h"
#include "lsh/hash_tables.h"
#include "lsh/id_set.h"
#include "lsh/query.h"

namespace slide::lsh {

class NeuronIndex {
 public:
  // For `neurons` rows of `dim` weights. Throws InputError when k * bits > range_pow or a size is impossible.
  NeuronIndex(const HashConfig& config, std::size_t neurons, std::size_t dim, std::uint64_t seed);
  // The index of a trained layer, for project() and find() alone, in the least memory: 32 tables by the
  // search policy, and among longest() (Norm-Ranging LSH) one neuron in 8, up to 8,192 and at least one in
  // 48; none below 4,096 neurons.
  static NeuronIndex fixed(const WeightRows& weights, std::size_t neurons, std::size_t dim,
                           std::uint64_t seed, int threads);
  ~NeuronIndex();
  NeuronIndex(NeuronIndex&&) noexcept;
  NeuronIndex& operator=(NeuronIndex&&) noexcept;

  // Shares the working memory of rebuild() and rehash() with `other`: only one of both may run them at a
  // time.
  void share_memory(const NeuronIndex& other);

  // Samples the hash functions of `generation`, fits the row frame and inserts every row.
  // SimHash: O(neurons * dim * K * L).
  void rebuild(const WeightRows& weights, std::uint64_t generation, int threads);
  // Same functions: fits the row frame again, hashes the rows `touched` (distinct ids, any order) again and
  // moves those with another fingerprint. The cost grows with the number of touched rows, not of the layer's.
  void rehash(const WeightRows& weights, std::span<const std::uint32_t> touched, int threads);

  // Appends to `out` up to `wanted` distinct ids, none of them in `seen`, and inserts them into `seen`.
  // vanilla: tables in random order; in each table every sample takes an equal share of what is still wanted,
  // from a random entry of its bucket. topk: the ids in most (sample, table) buckets, ties to the lower id.
  // threshold: ids in at least `threshold` buckets of a sample, by equal shares. search: the best by score of
  // the ids in most buckets of a few samples and of the longest rows (table_search.h). seen.capacity() >=
  // neurons, and `out` has all ids in `seen`. `rng` orders tables. Throws Error when block.inner is not
  // `dim`.
  void query(const QueryBlock& block, std::size_t wanted, Rng& rng, QueryScratch& scratch, IdSet& seen,
             std::vector<std::uint32_t>& out) const;
  // query() for a sparse input vector (first layer). ids ascending.
  void query_sparse(std::span<const std::uint32_t> ids, std::span<const float> values, std::size_t wanted,
                    Rng& rng, QueryScratch& scratch, IdSet& seen, std::vector<std::uint32_t>& out) const;

  // The search policy for single samples: project() hashes a block; find() then replaces `out` by up to
  // `wanted` ids of one of its samples, those in most buckets, without the first `scored` of longest(), which
  // the caller scores for every sample. A fixed() index finds none of longest().
  void project(const QueryBlock& block, QueryScratch& scratch) const;
  void find(std::size_t sample, std::size_t lanes, std::size_t wanted, QueryScratch& scratch,
            std::vector<std::uint32_t>& out, std::size_t scored = SIZE_MAX) const;
  std::span<const std::uint32_t> longest() const;

  // A scratch with which no query allocates, for blocks of up to `lanes` columns and up to `wanted` neurons.
  QueryScratch make_scratch(std::size_t lanes, std::size_t wanted = 0) const;

  // The whole state. load() refuses an index of other sizes.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  std::uint64_t generation() const;  // of the functions in use; 0 before the first rebuild
  std::size_t bytes() const;         // tables, fingerprints and hash functions
  // Expected bytes() of an index with all rows inserted, and of its make_scratch().
  static double bytes_of(const HashConfig& config, std::size_t neurons, std::size_t dim);
  // Expected peak memory of fixed(): fingerprints beside the tables.
  static double fixed_bytes_of(std::size_t neurons, std::size_t dim);
  static double scratch_bytes_of(const HashConfig& config, std::size_t neurons, std::size_t dim,
                                 std::size_t lanes, std::size_t wanted = 0);
  Occupancy occupancy() const;
  // All weights were 0 at the last rebuild or rehash: fingerprints are pseudo-random.
  bool all_zero() const;
  const HashConfig& config() const;  // after sized_for()

 private:
  struct Parts;
  NeuronIndex(const HashConfig& config, std::size_t neurons, std::size_t dim, std::uint64_t seed,
              std::size_t long_rows);
  std::unique_ptr<Parts> parts_;
};

}  // namespace slide::lsh

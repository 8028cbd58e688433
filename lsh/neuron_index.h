// The index of one layer: L hash tables over its neurons' weight rows. Answers "which neurons are likely to
// fire for this input?" and follows the weights as they change. Sizes that the configuration leaves open
// follow from the number of neurons (sized_for).
//
// Queries are const and may run on many threads at once, each with its own QueryScratch. rebuild() and
// rehash() must not overlap with queries. Contents depend on weights and seed only, never on thread count.
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
  ~NeuronIndex();
  NeuronIndex(NeuronIndex&&) noexcept;
  NeuronIndex& operator=(NeuronIndex&&) noexcept;

  // Has the working memory of rebuild() and rehash() in common with `other`, so that only one of both may run
  // at a time.
  void share_memory(const NeuronIndex& other);

  // Draws the hash functions of `generation`, learns what rows are hashed relative to, and inserts every row.
  void rebuild(const WeightRows& weights, std::uint64_t generation, int threads);
  // Same functions: rows `touched` (distinct ids) are hashed again, relative to what the rows are like now,
  // and moved where their fingerprint changed. Cost is that of the touched rows, not of the layer; their
  // order does not matter.
  void rehash(const WeightRows& weights, std::span<const std::uint32_t> touched, int threads);

  // Vanilla: tables in random order; in each table every sample takes its fair share of what is still wanted,
  // from a random place of its bucket on. Topk: the ids in most (sample, table) buckets, ties to the lower
  // id. Threshold: ids in at least `threshold` buckets of one sample, again by fair shares. Search: the best
  // by score of those in most buckets of a few samples, and of the longest rows (table_search.h).
  // seen.capacity()
  // >= neurons. Throws Error when the block's width is not `dim`. Appends to `out` up to `wanted` ids that
  // were not in `seen`, and inserts them there. `rng` orders tables.
  void query(const QueryBlock& block, std::size_t wanted, Rng& rng, QueryScratch& scratch, IdSet& seen,
             std::vector<std::uint32_t>& out) const;
  // The same for one sparse input vector a sample (first layer): ids ascending.
  void query_sparse(std::span<const std::uint32_t> ids, std::span<const float> values, std::size_t wanted,
                    Rng& rng, QueryScratch& scratch, IdSet& seen, std::vector<std::uint32_t>& out) const;

  // The search policy for single samples: projects all of a block; then find() replaces `out` by up to
  // `wanted` ids for one of them, those in most buckets, without longest(), which are to be scored for every
  // sample.
  void project(const QueryBlock& block, QueryScratch& scratch) const;
  void find(std::size_t sample, std::size_t lanes, std::size_t wanted, QueryScratch& scratch,
            std::vector<std::uint32_t>& out) const;
  std::span<const std::uint32_t> longest() const;

  // Memory of a scratch so that no later query allocates, for blocks of up to `lanes` samples and up to
  // `wanted` neurons.
  QueryScratch make_scratch(std::size_t lanes, std::size_t wanted = 0) const;

  // Everything that later calls depend on. load() needs an index of the same constructor.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  std::uint64_t generation() const;  // of the functions in use; 0 before the first rebuild
  std::size_t bytes() const;         // tables, fingerprints and hash functions
  // Of an index of that constructor, with every row filed, and of its make_scratch(). Expected where it
  // depends on the rows.
  static double bytes_of(const HashConfig& config, std::size_t neurons, std::size_t dim);
  static double scratch_bytes_of(const HashConfig& config, std::size_t neurons, std::size_t dim,
                                 std::size_t lanes, std::size_t wanted = 0);
  Occupancy occupancy() const;
  // The weights were all 0 when tables last followed them: what is filed tells nothing yet.
  bool blank() const;
  const HashConfig& config() const;  // with all sizes

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace slide::lsh

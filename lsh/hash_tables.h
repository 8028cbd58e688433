// L hash tables over the neurons of a layer, in flat arrays: buckets of bounded capacity, and the fingerprint
// of each neuron, by which a neuron moves without a search through tables.
//
// Invariants: a neuron is in at most one bucket of a table, the one of its fingerprint. A bucket counts all
// its neurons (population) and stores at most `capacity` of them. Its memory grows with what it stores: an
// empty bucket costs its 16-byte header. Contents depend on the order of calls and the seed, not on the
// number of threads. Thread safety: tables do not share memory, and a table has one writer at a time; const
// calls run in parallel, but not beside a writer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"
#include "engine/base/prefetch.h"
#include "lsh/hash_config.h"

namespace slide::lsh {

// Load of the tables.
struct Occupancy {
  std::size_t buckets = 0;       // over all tables
  std::size_t used_buckets = 0;  // with at least one neuron
  std::size_t full_buckets = 0;
  std::size_t stored = 0;          // entries over all tables
  std::size_t largest_bucket = 0;  // max population of a bucket
  std::size_t filed = 0;           // sum of all populations,
  std::size_t filed_in_full = 0;   // and of the populations of full buckets
  double mean_used = 0;            // mean entries of a used bucket
  // Buckets by entries: none, 1, 2 to 3, 4 to 7, ... Without buckets that no fingerprint reaches.
  std::array<std::size_t, 17> histogram{};

  void add(const Occupancy& other);  // the load of other tables
};

class HashTables {
 public:
  static constexpr std::uint32_t kNotFiled = UINT32_MAX;  // fingerprint of a neuron that no table has

  // Empty tables for fingerprints of config.k * code_bits(config) bits. config: from sized_for().
  HashTables(const HashConfig& config, std::size_t neurons, std::uint64_t seed);

  std::size_t tables() const { return tables_.size(); }
  std::size_t neurons() const { return neurons_; }

  // The neurons stored under a fingerprint, unordered. Valid until the table changes.
  std::span<const std::uint32_t> bucket(std::size_t table, std::uint32_t fingerprint) const {
    const Table& part = tables_[table];
    const Bucket& bucket = part.buckets[fingerprint];
    return {part.entries.data() + bucket.begin, bucket.stored};
  }
  // Prefetches the header that bucket() reads.
  void prefetch(std::size_t table, std::uint32_t fingerprint) const {
    slide::prefetch(&tables_[table].buckets[fingerprint]);
  }
  std::uint32_t fingerprint(std::size_t table, std::uint32_t neuron) const {
    return fingerprints_[table * neurons_ + neuron];
  }

  // insert(): the neuron must not be in the table. remove(): no effect if it is not. O(capacity).
  void insert(std::size_t table, std::uint32_t neuron, std::uint32_t fingerprint);
  void remove(std::size_t table, std::uint32_t neuron);

  // fingerprints()[table*neurons + neuron], the input of insert_all().
  std::span<std::uint32_t> fingerprints() { return fingerprints_.span(); }
  // Empties all tables and inserts every neuron by fingerprints(). Each table begins at another neuron: full
  // buckets lose other neurons in each table. O(tables * neurons), parallel over tables.
  void insert_all(int threads);
  // Sets the fingerprint of the neurons `ids` to kNotFiled. O(tables * ids).
  void mark_not_filed(std::span<const std::uint32_t> ids);
  // Inserts all neurons except kNotFiled by counting sort, in the least memory: ids ascend in each bucket; a
  // full bucket keeps its first neurons. Frees the fingerprints. Only const calls may follow,
  // without fingerprint().
  void insert_fixed(int threads);
  // Moves neuron ids[i] to fingerprint fresh[table*ids.size() + i], if it differs. Parallel over tables.
  void move(std::span<const std::uint32_t> ids, const std::uint32_t* fresh, int threads);

  // The whole state. load() refuses tables of other sizes and invalid contents.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  std::size_t bytes() const;
  // Expected bytes() with `neurons` neurons and uniform fingerprints.
  static double bytes_of(const HashConfig& config, std::size_t neurons);
  Occupancy occupancy() const;

 private:
  static constexpr std::size_t kSmallestChunk = 4;  // entries
  static constexpr std::size_t kChunkSizes = 14;    // 4, 8, ... 2^15
  static constexpr std::uint32_t kNoChunk = UINT32_MAX;

  struct Bucket {
    std::uint32_t begin = 0;  // offset of its chunk in entries
    std::uint32_t population = 0;
    std::uint32_t mark = 0;  // fifo: the oldest entry; reservoir: removals not yet compensated
    std::uint16_t stored = 0;
    std::uint16_t chunk = 0;  // capacity of the chunk, 0 or a power of two
  };
  struct Table {
    AlignedArray<Bucket> buckets;
    AlignedArray<std::uint32_t> entries;
    std::uint32_t used = 0;                         // entries in chunks
    std::array<std::uint32_t, kChunkSizes> free{};  // by size: head of a free list through first entries
    std::uint64_t draws = 0;                        // random numbers used so far
  };

  void clear(Table& table);
  void check(const Table& table, std::size_t index, const ByteReader& in) const;
  // Entries that a table allocates memory for at first.
  static std::size_t initial_entries(std::size_t neurons, std::size_t buckets, std::size_t capacity) {
    return std::min(neurons + neurons / 2, buckets * capacity);
  }
  std::uint32_t allocate(Table& table, std::size_t size);
  static void release(Table& table, std::uint32_t begin, std::size_t size);
  void append(Table& table, Bucket& bucket, std::uint32_t neuron);
  void add_fifo(Table& table, Bucket& bucket, std::uint32_t neuron);
  void add_reservoir(std::size_t index, Bucket& bucket, std::uint32_t neuron);
  static void remove_fifo(Table& table, Bucket& bucket, std::uint32_t neuron);
  static void remove_reservoir(Table& table, Bucket& bucket, std::uint32_t neuron);
  void store_dropped(Table& table, std::uint32_t neuron, std::uint32_t fingerprint);
  void move_in(std::size_t index, std::span<const std::uint32_t> ids, const std::uint32_t* fresh);

  std::size_t neurons_;
  std::size_t buckets_;  // of a table, 2^range_pow; fingerprints may reach fewer
  std::size_t capacity_;
  BucketPolicy policy_;
  std::uint64_t seed_;
  std::vector<Table> tables_;
  AlignedArray<std::uint32_t> fingerprints_;  // [table][neuron]
};

}  // namespace slide::lsh

// L hash tables over the neurons of a layer, in flat arrays: buckets of bounded capacity, and the fingerprint
// under which each neuron is filed, so that a neuron can be moved without a search through tables.
//
// Invariants: a neuron is in at most one bucket of a table, the one of its fingerprint. A bucket counts all
// neurons filed under it (population) and stores at most `capacity` of them. A bucket's memory grows with
// what it stores, so empty buckets cost their 16-byte header only. Each table has one writer at a time;
// tables do not share memory. Reads may run in parallel, not with writes. Contents depend on the order of
// calls and the seed, never on threads.
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

// Fill of the tables, for `slide inspect`.
struct Occupancy {
  std::size_t buckets = 0;       // over all tables
  std::size_t used_buckets = 0;  // with at least one neuron
  std::size_t full_buckets = 0;
  std::size_t stored = 0;          // entries over all tables
  std::size_t largest_bucket = 0;  // neurons that hash to one bucket, stored or not
  std::size_t filed = 0;           // neurons, stored or not, over all tables,
  std::size_t filed_in_full = 0;   // and those of full buckets
  double mean_used = 0;            // entries in a used bucket
  // Buckets by entries: none, 1, 2 to 3, 4 to 7, ... Buckets that no fingerprint reaches are not in it.
  std::array<std::size_t, 17> histogram{};

  void add(const Occupancy& other);  // of other tables
};

class HashTables {
 public:
  static constexpr std::uint32_t kNotFiled = UINT32_MAX;  // fingerprint of a neuron not inserted yet

  // For fingerprints of k * bits bits, as `config` says.
  HashTables(const HashConfig& config, std::size_t neurons, std::uint64_t seed);

  std::size_t tables() const { return tables_.size(); }
  std::size_t neurons() const { return neurons_; }

  // Neurons stored under a fingerprint, in no particular order.
  std::span<const std::uint32_t> bucket(std::size_t table, std::uint32_t fingerprint) const {
    const Table& part = tables_[table];
    const Bucket& bucket = part.buckets[fingerprint];
    return {part.entries.data() + bucket.begin, bucket.stored};
  }
  // Asks for the bucket's header ahead of bucket().
  void prefetch(std::size_t table, std::uint32_t fingerprint) const {
    slide::prefetch(&tables_[table].buckets[fingerprint]);
  }
  std::uint32_t fingerprint(std::size_t table, std::uint32_t neuron) const {
    return fingerprints_[table * neurons_ + neuron];
  }

  // Files one neuron, which is not in the table, or takes it out.
  void insert(std::size_t table, std::uint32_t neuron, std::uint32_t fingerprint);
  void remove(std::size_t table, std::uint32_t neuron);

  // Fingerprints [table][neuron], to be filled before insert_all().
  std::span<std::uint32_t> fingerprints() { return fingerprints_.span(); }
  // Empties all tables and files every neuron under fingerprints(). Each table begins at another neuron, so
  // that full buckets do not forget the same ones everywhere.
  void insert_all(int threads);
  // Files neurons ids[i] under fresh[table*ids.size() + i]; those filed there already stay.
  void move(std::span<const std::uint32_t> ids, const std::uint32_t* fresh, int threads);

  // Everything that later calls depend on. load() refuses what is not of tables of these sizes.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  std::size_t bytes() const;
  // Expected of `neurons` filed neurons whose fingerprints are spread evenly.
  static double bytes_of(const HashConfig& config, std::size_t neurons);
  Occupancy occupancy() const;

 private:
  static constexpr std::size_t kSmallestChunk = 4;  // entries
  static constexpr std::size_t kChunkSizes = 14;    // 4, 8, ... 2^15
  static constexpr std::uint32_t kNoChunk = UINT32_MAX;

  struct Bucket {
    std::uint32_t begin = 0;  // of its chunk in entries
    std::uint32_t population = 0;
    std::uint32_t mark = 0;  // fifo: the oldest entry; reservoir: neurons removed and not made up for
    std::uint16_t stored = 0;
    std::uint16_t chunk = 0;  // entries the chunk has room for, 0 or a power of two
  };
  struct Table {
    AlignedArray<Bucket> buckets;
    AlignedArray<std::uint32_t> entries;
    std::uint32_t used = 0;                         // entries handed out as chunks
    std::array<std::uint32_t, kChunkSizes> free{};  // by size: head of a list threaded through first entries
    std::uint64_t draws = 0;                        // random numbers used so far
  };

  void clear(Table& table);
  void check(const Table& table, std::size_t index, const ByteReader& in) const;
  static std::size_t first_room(std::size_t neurons, std::size_t buckets, std::size_t capacity) {
    return std::min(neurons + neurons / 2, buckets * capacity);
  }
  std::uint32_t allocate(Table& table, std::size_t size);
  static void release(Table& table, std::uint32_t begin, std::size_t size);
  void append(Table& table, Bucket& bucket, std::uint32_t neuron);
  void add_fifo(Table& table, Bucket& bucket, std::uint32_t neuron);
  void add_reservoir(std::size_t index, Bucket& bucket, std::uint32_t neuron);
  static void remove_fifo(Table& table, Bucket& bucket, std::uint32_t neuron);
  static void remove_reservoir(Table& table, Bucket& bucket, std::uint32_t neuron);
  void revive(Table& table, std::uint32_t neuron, std::uint32_t fingerprint);
  void move_in(std::size_t index, std::span<const std::uint32_t> ids, const std::uint32_t* fresh);

  std::size_t neurons_;
  std::size_t buckets_;  // of a table, as configured; fingerprints may reach fewer
  std::size_t capacity_;
  BucketPolicy policy_;
  std::uint64_t seed_;
  std::vector<Table> tables_;
  AlignedArray<std::uint32_t> fingerprints_;  // [table][neuron]
};

}  // namespace slide::lsh

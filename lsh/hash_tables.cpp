#include "lsh/hash_tables.h"

#include <bit>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"

namespace slide::lsh {

namespace {

constexpr std::size_t kAhead = 16;  // prefetch distance in neurons

// Index of a chunk size in Table::free: 0 for kSmallestChunk = 4 entries, 1 for 8, ...
std::size_t size_class(std::size_t size) {
  return static_cast<std::size_t>(std::bit_width(size)) - 3;
}

// Index of `neuron` in the entries, or their number. Compares in groups, which the compiler vectorises.
std::size_t find(std::span<const std::uint32_t> entries, std::uint32_t neuron) {
  constexpr std::size_t kGroup = 16;
  const std::uint32_t* entry = entries.data();
  std::size_t i = 0;
  for (; i + kGroup <= entries.size(); i += kGroup) {
    std::uint32_t hits = 0;
    for (std::size_t j = 0; j < kGroup; ++j) hits |= entry[i + j] == neuron ? 1U : 0U;
    if (hits != 0) break;
  }
  while (i < entries.size() && entry[i] != neuron) ++i;
  return i;
}

}  // namespace

HashTables::HashTables(const HashConfig& config, std::size_t neurons, std::uint64_t seed)
    : neurons_(neurons),
      buckets_(std::size_t{1} << config.range_pow),
      capacity_(config.bucket_capacity),
      policy_(config.bucket_policy),
      seed_(seed),
      tables_(config.tables),
      fingerprints_(config.tables * neurons) {
  check_hash_config(config);
  if (neurons == 0 || neurons >= kNotFiled)
    fail_input("hash tables over {} neurons: must be 1 to 2^32 - 2", neurons);
  std::fill(fingerprints_.begin(), fingerprints_.end(), kNotFiled);
  for (Table& table : tables_) {
    table.buckets = AlignedArray<Bucket>(std::size_t{1} << (config.k * code_bits(config)));
    table.free.fill(kNoChunk);
  }
}

void HashTables::clear(Table& table) {
  std::fill(table.buckets.begin(), table.buckets.end(), Bucket{});
  table.free.fill(kNoChunk);
  table.used = 0;
}

// Offset of a free chunk of `size` entries. Bucket references stay valid, entry pointers do not.
std::uint32_t HashTables::allocate(Table& table, std::size_t size) {
  std::uint32_t& head = table.free[size_class(size)];
  if (head != kNoChunk) {
    const std::uint32_t begin = head;
    head = table.entries[begin];
    return begin;
  }
  if (table.used + size > table.entries.size()) {
    const std::size_t initial = initial_entries(neurons_, table.buckets.size(), capacity_);
    const std::size_t wanted = std::max({2 * table.entries.size(), initial, size});
    if (wanted >= kNoChunk) fail_run("a hash table of more than 2^32 entries");
    AlignedArray<std::uint32_t> larger(wanted);
    std::copy_n(table.entries.data(), table.used, larger.data());
    table.entries = std::move(larger);
  }
  const std::uint32_t begin = table.used;
  table.used += static_cast<std::uint32_t>(size);
  return begin;
}

void HashTables::release(Table& table, std::uint32_t begin, std::size_t size) {
  if (size == 0) return;
  std::uint32_t& head = table.free[size_class(size)];
  table.entries[begin] = head;
  head = begin;
}

// Requires bucket.stored < capacity. The neuron becomes the newest entry.
void HashTables::append(Table& table, Bucket& bucket, std::uint32_t neuron) {
  if (bucket.stored == bucket.chunk) {
    const std::size_t size = std::max<std::size_t>(kSmallestChunk, std::size_t{2} * bucket.chunk);
    const std::uint32_t begin = allocate(table, size);
    std::copy_n(table.entries.data() + bucket.begin, bucket.stored, table.entries.data() + begin);
    release(table, bucket.begin, bucket.chunk);
    bucket.begin = begin;
    bucket.chunk = static_cast<std::uint16_t>(size);
  }
  table.entries[bucket.begin + bucket.stored++] = neuron;
}

// Entries are a ring buffer in order of age: the oldest at `mark`, to the end, then from the front. A full
// bucket overwrites its oldest entry.
void HashTables::add_fifo(Table& table, Bucket& bucket, std::uint32_t neuron) {
  std::uint32_t& oldest = bucket.mark;
  if (bucket.stored == capacity_) {
    table.entries[bucket.begin + oldest] = neuron;
    oldest = oldest + 1U == bucket.stored ? 0 : oldest + 1;
    return;
  }
  append(table, bucket, neuron);
  if (oldest == 0) return;
  // Moves the new entry from the end to its place in the ring, directly before the oldest.
  std::uint32_t* first = table.entries.data() + bucket.begin;
  std::copy_backward(first + oldest, first + bucket.stored - 1, first + bucket.stored);
  first[oldest++] = neuron;
}

// Later entries close the gap; the index of the oldest entry follows.
void HashTables::remove_fifo(Table& table, Bucket& bucket, std::uint32_t neuron) {
  std::uint32_t& oldest = bucket.mark;
  std::uint32_t* first = table.entries.data() + bucket.begin;
  const std::size_t place = find({first, bucket.stored}, neuron);
  if (place == bucket.stored) return;
  std::copy(first + place + 1, first + bucket.stored, first + place);
  --bucket.stored;
  if (place < oldest) --oldest;
  if (oldest == bucket.stored) oldest = 0;
}

// Reservoir sampling: every subset of the population is equally likely to be stored. Vitter's algorithm R
// (1985); after removals random pairing (Gemulla, Lehner, Haas 2006, section 3): a new neuron compensates one
// of the `mark` uncompensated removals, stored or not.
void HashTables::add_reservoir(std::size_t index, Bucket& bucket, std::uint32_t neuron) {
  Table& table = tables_[index];
  const std::size_t removed = bucket.mark;
  if (removed == 0 && bucket.population <= capacity_) {  // population includes `neuron`
    append(table, bucket, neuron);
    return;
  }
  Rng rng(seed_, Purpose::kBuckets, index, table.draws++);
  if (removed == 0) {
    const std::uint32_t place = rng.below(bucket.population);
    if (place < bucket.stored) table.entries[bucket.begin + place] = neuron;
    return;
  }
  const std::size_t stored_before = std::min(capacity_, bucket.population - 1 + removed);
  --bucket.mark;
  if (rng.below(static_cast<std::uint32_t>(removed)) < stored_before - bucket.stored)
    append(table, bucket, neuron);
}

// Counts the removal as uncompensated, stored or not; the last entry fills the gap.
void HashTables::remove_reservoir(Table& table, Bucket& bucket, std::uint32_t neuron) {
  ++bucket.mark;
  std::uint32_t* first = table.entries.data() + bucket.begin;
  const std::size_t place = find({first, bucket.stored}, neuron);
  if (place == bucket.stored) return;
  first[place] = first[--bucket.stored];
}

// The neuron enters the bucket by its policy, and its fingerprint is stored.
void HashTables::insert(std::size_t table, std::uint32_t neuron, std::uint32_t fingerprint) {
  Bucket& bucket = tables_[table].buckets[fingerprint];
  ++bucket.population;
  if (policy_ == BucketPolicy::kFifo) {
    add_fifo(tables_[table], bucket, neuron);
  } else {
    add_reservoir(table, bucket, neuron);
  }
  fingerprints_[table * neurons_ + neuron] = fingerprint;
}

// The reverse of insert(); an empty bucket releases its chunk.
void HashTables::remove(std::size_t table, std::uint32_t neuron) {
  std::uint32_t& fingerprint = fingerprints_[table * neurons_ + neuron];
  if (fingerprint == kNotFiled) return;
  Table& part = tables_[table];
  Bucket& bucket = part.buckets[fingerprint];
  --bucket.population;
  if (policy_ == BucketPolicy::kFifo) {
    remove_fifo(part, bucket, neuron);
  } else {
    remove_reservoir(part, bucket, neuron);
  }
  if (bucket.population == 0) {
    release(part, bucket.begin, bucket.chunk);
    bucket = Bucket{};
  }
  fingerprint = kNotFiled;
}

// In parallel over tables; each starts at a random neuron.
void HashTables::insert_all(int threads) {
  parallel_for(tables(), threads, [&](std::size_t index, int) {
    clear(tables_[index]);
    const std::uint32_t* prints = fingerprints_.data() + index * neurons_;
    const std::size_t start = Rng(seed_, Purpose::kBuckets, index, UINT64_MAX).next() % neurons_;
    for (std::size_t i = 0; i < neurons_; ++i) {
      const std::size_t ahead = i + start + kAhead;
      prefetch(index, prints[ahead < neurons_ ? ahead : ahead % neurons_]);
      const std::size_t neuron = i + start < neurons_ ? i + start : i + start - neurons_;
      insert(index, static_cast<std::uint32_t>(neuron), prints[neuron]);
    }
  });
}

void HashTables::mark_not_filed(std::span<const std::uint32_t> ids) {
  for (std::size_t t = 0; t < tables(); ++t) {
    for (const std::uint32_t id : ids) fingerprints_[t * neurons_ + id] = kNotFiled;
  }
}

// Counting sort, per table: populations of the buckets, offsets of their entries, then the entries.
void HashTables::insert_fixed(int threads) {
  parallel_for(tables(), threads, [&](std::size_t index, int) {
    Table& table = tables_[index];
    clear(table);
    const std::span<const std::uint32_t> prints(fingerprints_.data() + index * neurons_, neurons_);
    for (const std::uint32_t print : prints) {
      if (print != kNotFiled) ++table.buckets[print].population;
    }
    for (Bucket& bucket : table.buckets) {
      bucket.begin = table.used;
      table.used += static_cast<std::uint32_t>(std::min<std::size_t>(bucket.population, capacity_));
    }
    table.entries = AlignedArray<std::uint32_t>(table.used);
    for (std::size_t neuron = 0; neuron < neurons_; ++neuron) {
      if (neuron + kAhead < neurons_ && prints[neuron + kAhead] != kNotFiled)
        prefetch(index, prints[neuron + kAhead]);
      if (prints[neuron] == kNotFiled) continue;
      Bucket& bucket = table.buckets[prints[neuron]];
      if (bucket.stored < capacity_)
        table.entries[bucket.begin + bucket.stored++] = static_cast<std::uint32_t>(neuron);
    }
  });
  fingerprints_ = {};
}

// Stores a neuron that its full bucket had not stored, if the bucket has room now. Only buckets with an
// eighth of the capacity free are searched: the search costs O(stored).
void HashTables::store_dropped(Table& table, std::uint32_t neuron, std::uint32_t fingerprint) {
  Bucket& bucket = table.buckets[fingerprint];
  const std::size_t free = capacity_ - bucket.stored;
  if (free == 0 || free * 8 < capacity_ || bucket.population == bucket.stored) return;
  const std::span<const std::uint32_t> entries(table.entries.data() + bucket.begin, bucket.stored);
  if (find(entries, neuron) == entries.size()) add_fifo(table, bucket, neuron);
}

// Moves neuron ids[i] to the bucket of fingerprint fresh[i], in order of i. A neuron whose fingerprint is
// unchanged may enter its fifo bucket again (store_dropped()).
void HashTables::move_in(std::size_t index, std::span<const std::uint32_t> ids, const std::uint32_t* fresh) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + 2 * kAhead < ids.size()) {
      slide::prefetch<Access::kWrite>(&fingerprints_[index * neurons_ + ids[i + 2 * kAhead]]);
    }
    if (i + kAhead < ids.size()) {
      prefetch(index, fingerprint(index, ids[i + kAhead]));
      prefetch(index, fresh[i + kAhead]);
    }
    if (fingerprint(index, ids[i]) != fresh[i]) {
      remove(index, ids[i]);
      insert(index, ids[i], fresh[i]);
    } else if (policy_ == BucketPolicy::kFifo) {
      store_dropped(tables_[index], ids[i], fresh[i]);
    }
  }
}

void HashTables::move(std::span<const std::uint32_t> ids, const std::uint32_t* fresh, int threads) {
  parallel_for(tables(), threads,
               [&](std::size_t index, int) { move_in(index, ids, fresh + index * ids.size()); });
}

// Fingerprints, then each table: buckets, entries, free lists, number of draws.
void HashTables::save(ByteWriter& out) const {
  out.put_array(fingerprints_.data(), fingerprints_.size());
  std::vector<std::uint32_t> entries;
  for (const Table& table : tables_) {
    entries.assign(table.used, 0);  // entries of no bucket and no free list stay 0
    for (const Bucket& bucket : table.buckets)
      std::copy_n(table.entries.data() + bucket.begin, bucket.stored, entries.data() + bucket.begin);
    for (std::uint32_t at : table.free) {
      for (; at != kNoChunk; at = table.entries[at]) entries[at] = table.entries[at];
    }
    out.put_array(table.buckets.data(), table.buckets.size());
    out.put_array(entries.data(), entries.size());
    out.put(table.free);
    out.put(table.draws);
  }
}

// In the order of save(); each table is checked before its indices are used.
void HashTables::load(ByteReader& in) {
  in.get_array(fingerprints_.data(), fingerprints_.size(), "fingerprints of another number of neurons");
  std::vector<std::uint32_t> entries;
  for (std::size_t index = 0; index < tables(); ++index) {
    Table& table = tables_[index];
    in.get_array(table.buckets.data(), table.buckets.size(), "hash tables of another size");
    in.get_vector(entries);
    if (entries.size() >= kNoChunk) in.refuse("a hash table of impossible size");
    if (entries.size() > table.entries.size()) table.entries = AlignedArray<std::uint32_t>(entries.size());
    std::copy(entries.begin(), entries.end(), table.entries.begin());
    table.used = static_cast<std::uint32_t>(entries.size());
    table.free = in.get<decltype(table.free)>();
    table.draws = in.get<std::uint64_t>();
    check(table, index, in);
  }
}

// Refuses buckets, free chunks and fingerprints out of range.
void HashTables::check(const Table& table, std::size_t index, const ByteReader& in) const {
  bool good = true;
  for (const Bucket& bucket : table.buckets) {
    good = good && std::uint64_t{bucket.begin} + bucket.chunk <= table.used &&
           bucket.stored <= bucket.chunk && bucket.stored <= capacity_ &&
           (policy_ != BucketPolicy::kFifo || bucket.mark <= bucket.stored);
    for (std::size_t i = 0; good && i < bucket.stored; ++i) good = table.entries[bucket.begin + i] < neurons_;
  }
  for (std::size_t size = 0; size < kChunkSizes; ++size) {
    std::size_t links = 0;
    std::uint32_t at = table.free[size];
    while (good && at != kNoChunk) {
      good = at + (std::uint64_t{kSmallestChunk} << size) <= table.used && ++links <= table.used;
      if (good) at = table.entries[at];
    }
  }
  for (std::size_t n = 0; n < neurons_; ++n) {
    const std::uint32_t print = fingerprint(index, static_cast<std::uint32_t>(n));
    good = good && (print == kNotFiled || print < table.buckets.size());
  }
  if (!good) in.refuse("impossible hash tables");
}

// Numbers of neurons in a bucket are Poisson distributed. For loads above 500, where exp(-load) nears
// underflow, all buckets count as the mean one.
double HashTables::bytes_of(const HashConfig& config, std::size_t neurons) {
  const std::size_t buckets = std::size_t{1} << (config.k * code_bits(config));
  const double load = double(neurons) / double(buckets);
  // Expected chunk of a bucket: the smallest that holds n neurons, n from a Poisson distribution.
  double chunks = 0.0, probability = std::exp(-load);
  const auto limit = static_cast<std::size_t>(load + 10 * std::sqrt(load) + 10);
  for (std::size_t n = 1; n <= limit; ++n) {
    probability *= load / double(n);
    const std::size_t stored = std::min<std::size_t>(n, config.bucket_capacity);
    chunks += probability * double(std::min(std::max(kSmallestChunk, std::bit_ceil(stored)),
                                            std::bit_ceil(std::size_t{config.bucket_capacity})));
  }
  if (load > 500)
    chunks = double(std::bit_ceil(std::min<std::size_t>(std::size_t(load), config.bucket_capacity)));
  double entries = double(initial_entries(neurons, buckets, config.bucket_capacity));
  while (entries > 0 && entries < chunks * double(buckets)) entries *= 2;  // as allocate() grows them
  const double table = double(buckets) * sizeof(Bucket) + (entries + double(neurons)) * sizeof(std::uint32_t);
  return config.tables * table;
}

std::size_t HashTables::bytes() const {
  std::size_t sum = fingerprints_.bytes();
  for (const Table& table : tables_) sum += table.buckets.bytes() + table.entries.bytes();
  return sum;
}

void Occupancy::add(const Occupancy& other) {
  buckets += other.buckets;
  used_buckets += other.used_buckets;
  full_buckets += other.full_buckets;
  stored += other.stored;
  largest_bucket = std::max(largest_bucket, other.largest_bucket);
  filed += other.filed;
  filed_in_full += other.filed_in_full;
  mean_used = used_buckets > 0 ? double(stored) / double(used_buckets) : 0.0;
  for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += other.histogram[i];
}

// One pass over the buckets of all tables.
Occupancy HashTables::occupancy() const {
  Occupancy sum;
  sum.buckets = tables() * buckets_;
  for (const Table& table : tables_) {
    for (const Bucket& bucket : table.buckets) {
      sum.used_buckets += bucket.stored > 0 ? 1 : 0;
      sum.full_buckets += bucket.stored == capacity_ ? 1 : 0;
      sum.stored += bucket.stored;
      sum.filed += bucket.population;
      sum.filed_in_full += bucket.stored == capacity_ ? bucket.population : 0;
      ++sum.histogram[std::bit_width(bucket.stored)];
      sum.largest_bucket = std::max<std::size_t>(sum.largest_bucket, bucket.population);
    }
  }
  if (sum.used_buckets > 0) sum.mean_used = double(sum.stored) / double(sum.used_buckets);
  return sum;
}

}  // namespace slide::lsh

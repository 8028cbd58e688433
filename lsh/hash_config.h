// Settings of the hash tables of one layer, their limits and the rules between them. Plain data and pure
// functions, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace slide {

enum class HashFamily { kSimhash, kWta, kDwta, kMinhash };
enum class BucketPolicy { kFifo, kReservoir };
enum class CandidatePolicy { kVanilla, kTopk, kThreshold, kSearch };

// [layer.hash]: the LSH tables of one sampled layer. configs/default.toml has the same defaults.
struct HashConfig {
  HashFamily family = HashFamily::kSimhash;
  std::uint32_t k = 0;        // K, hash functions of a fingerprint; 0: by the number of neurons
  std::uint32_t tables = 16;  // L
  // For wta, dwta and minhash: number of values compared by a hash function; a code has log2(bin_size) bits.
  std::uint32_t bin_size = 8;
  std::uint32_t range_pow = 0;        // a table has 2^range_pow buckets; k * bits <= range_pow; 0: k * bits
  std::uint32_t bucket_capacity = 0;  // max neurons in a bucket; 0: a multiple of the mean
  BucketPolicy bucket_policy = BucketPolicy::kFifo;
  CandidatePolicy candidates = CandidatePolicy::kSearch;
  std::uint32_t threshold = 2;      // threshold policy: min tables that contain a neuron
  std::uint32_t queries = 8;        // search policy: samples of a block that query
  std::uint32_t topk_ratio = 8;     // minhash: hashes the set of the 1/ratio largest values
  bool asymmetric = true;           // simhash: maximum inner product transform
  std::uint32_t rehash_steps = 8;   // steps between rehashes (same functions, changed rows only)
  double rehash_share = 1.0;        // max rows of a rehash, as a share of the row updates since the last one
  std::uint32_t rebuild_steps = 0;  // steps between rebuilds (new functions), 0 = never
  double interval_growth = 1.4;     // ratio of an interval to the one before (the paper's decay)
};

inline constexpr std::size_t kFewNeurons = 4096;  // below: smaller buckets, no longest rows (long_rows.h)

// Bits of a fingerprint for 16 to 32 neurons in a bucket on average, 1 to 18.
std::uint32_t bits_of_small_buckets(std::size_t neurons);

// `config` with values for k, range_pow and bucket_capacity where they are 0: 16 to 32 neurons in a bucket on
// average (fewer below 4,096 neurons, more with over 2^23: a fingerprint has at most 18 bits), and capacity
// for at least four times the mean.
HashConfig sized_for(HashConfig config, std::size_t neurons);

// Limits of single settings. k, range_pow and bucket_capacity may also be 0 (sized_for()); others without a
// kMin have the minimum 1.
inline constexpr std::uint32_t kMaxCodes = 32;  // k: a fingerprint has 32 bits
inline constexpr std::uint32_t kMaxRangePow = 24;
inline constexpr std::uint32_t kMinBinSize = 2, kMaxBinSize = 256;
inline constexpr std::uint32_t kMaxBucketCapacity = 1U << 15;
inline constexpr std::uint32_t kMaxQueries = 16;  // columns of one matrix product

// Bits of one code: 1 for simhash, log2(bin_size) rounded up for the other families.
std::uint32_t code_bits(const HashConfig& config);

// An invalid setting: its key, as "layer.0.hash.k", and one sentence that names it.
struct HashFault {
  std::string key;
  std::string message;
};

// The first setting out of its limits, or the first broken rule of k * bits <= range_pow, threshold <=
// tables. `section` is the prefix of the keys, as "layer.0.hash".
std::optional<HashFault> find_hash_fault(const HashConfig& config, const std::string& section);

// Throws InputError with the message of find_hash_fault() if there is a fault.
void check_hash_config(const HashConfig& config);

}  // namespace slide

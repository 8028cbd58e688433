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

// [layer.hash]: the LSH tables of one sampled layer. The defaults are those of configs/default.toml.
struct HashConfig {
  HashFamily family = HashFamily::kSimhash;
  std::uint32_t k = 0;        // hash functions in one fingerprint (K); 0: by the number of neurons
  std::uint32_t tables = 16;  // L
  std::uint32_t bin_size =
      8;  // wta, dwta, minhash: values compared in one hash function; a code has log2 of it bits
  std::uint32_t range_pow =
      0;  // a table has 2^range_pow buckets; k * bits <= range_pow; 0: as many as needed
  std::uint32_t bucket_capacity = 0;  // neurons a bucket stores at most; 0: some times its fair share
  BucketPolicy bucket_policy = BucketPolicy::kFifo;
  CandidatePolicy candidates = CandidatePolicy::kSearch;
  std::uint32_t threshold = 2;     // threshold policy: in at least this many tables
  std::uint32_t queries = 8;       // search policy: samples of a block that ask
  std::uint32_t topk_ratio = 8;    // minhash: the 1/ratio largest values form the set that is hashed
  bool asymmetric = true;          // simhash: maximum inner product transform
  std::uint32_t rehash_steps = 8;  // steps between rehashes (same functions, touched rows inserted again)
  double rehash_share = 1.0;  // rows that one files at most, as a share of the row updates since the last
  std::uint32_t rebuild_steps = 0;  // steps between rebuilds (new functions), 0 = never
  double interval_growth = 1.4;     // each interval is this many times the one before (the paper's decay)
};

// `config` with k, range_pow and bucket_capacity where they are 0: a bucket of a table over so many neurons
// holds up to some tens of them on average, and stores a few times as many.
HashConfig sized_for(HashConfig config, std::size_t neurons);

// Limits of single settings, where they are not 0 to be chosen by sized_for(); the least of the others
// without a kMin is 1.
inline constexpr std::uint32_t kMaxCodes = 32;  // k: a fingerprint has 32 bits
inline constexpr std::uint32_t kMaxRangePow = 24;
inline constexpr std::uint32_t kMinBinSize = 2, kMaxBinSize = 256;
inline constexpr std::uint32_t kMaxBucketCapacity = 1U << 15;
inline constexpr std::uint32_t kMaxQueries = 16;  // the lanes of one product

// Bits of one code: 1 for simhash, log2(bin_size) rounded up for the other families.
std::uint32_t code_bits(const HashConfig& config);

// What is wrong with settings: the one to change, as "layer.0.hash.k", and one sentence that names it.
struct HashFault {
  std::string key;
  std::string message;
};

// The first setting out of its limits or broken rule: k * bits <= range_pow, threshold <= tables. `section`
// stands before the names of the settings, as "layer.0.hash".
std::optional<HashFault> find_hash_fault(const HashConfig& config, const std::string& section);

// Throws InputError with the message of find_hash_fault, if there is a fault.
void check_hash_config(const HashConfig& config);

}  // namespace slide

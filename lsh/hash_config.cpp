#include "lsh/hash_config.h"

#include <bit>

#include "engine/base/error.h"
#include "lsh/hash_tables.h"

namespace slide {

namespace {

constexpr std::uint32_t kMaxRangePow = 24;
constexpr std::uint32_t kMaxFunctions = 1U << 20;  // K * L

void check_code(const HashConfig& config) {
  if (config.family != HashFamily::kSimhash && config.bin_size < 2) {
    fail_input("hash.bin_size = {}: a hash function must compare at least 2 values", config.bin_size);
  }
  if (config.k == 0) fail_input("hash.k = 0: a fingerprint needs at least one hash function");
  if (config.range_pow > kMaxRangePow) {
    fail_input("hash.range_pow = {}: a table has at most 2^{} buckets", config.range_pow, kMaxRangePow);
  }
  const std::uint32_t bits = code_bits(config);
  if (config.k > config.range_pow || config.k * bits > config.range_pow) {
    fail_input("hash.k = {} codes of {} bits do not fit hash.range_pow = {}: k * bits must not exceed it",
               config.k, bits, config.range_pow);
  }
}

}  // namespace

std::uint32_t code_bits(const HashConfig& config) {
  if (config.family == HashFamily::kSimhash || config.bin_size < 2) return 1;
  return static_cast<std::uint32_t>(std::bit_width(config.bin_size - 1));
}

void check_hash_config(const HashConfig& config) {
  check_code(config);
  if (config.tables == 0 || config.tables > kMaxFunctions / config.k) {
    fail_input("hash.tables = {}: must be 1 to {}", config.tables, kMaxFunctions / config.k);
  }
  if (config.bucket_capacity == 0 || config.bucket_capacity > lsh::HashTables::kMaxCapacity) {
    fail_input("hash.bucket_capacity = {}: must be 1 to {}", config.bucket_capacity,
               lsh::HashTables::kMaxCapacity);
  }
  if (config.topk_ratio == 0) fail_input("hash.topk_ratio = 0: must be at least 1");
  if (config.candidates == CandidatePolicy::kThreshold &&
      (config.threshold == 0 || config.threshold > config.tables)) {
    fail_input("hash.threshold = {}: must be 1 to hash.tables = {}", config.threshold, config.tables);
  }
  if (config.asymmetric && config.family != HashFamily::kSimhash) {
    fail_input("hash.asymmetric = true: only the simhash family has an asymmetric form");
  }
}

}  // namespace slide

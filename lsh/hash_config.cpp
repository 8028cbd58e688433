#include "lsh/hash_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::uint32_t kMaxFunctions = 1U << 20;  // K * L
constexpr std::uint32_t kLogBucket = 5;            // log2 of the max mean number of neurons in a bucket
constexpr std::uint32_t kMaxChosenBits = 18;       // of a fingerprint
// Bits below kFewNeurons: the longest rows, which are always scored, are a large part; buckets stay small.
constexpr std::uint32_t kBitsOfFew = 14;
constexpr std::size_t kMinChosenCapacity = 64;

using MaybeFault = std::optional<HashFault>;

template <class... Args>
HashFault fault(std::string key, fmt::format_string<Args...> format, Args&&... args) {
  std::string message = fmt::format("'{}' ", key) + fmt::format(format, std::forward<Args>(args)...);
  return {std::move(key), std::move(message)};
}

// The first setting outside its limits.
MaybeFault check_limits(const HashConfig& config, const std::string& section) {
  const auto check = [&](const char* name, std::uint32_t value, std::uint32_t min_value,
                         std::uint32_t max_value) -> MaybeFault {
    if (value >= min_value && value <= max_value) return std::nullopt;
    return fault(fmt::format("{}.{}", section, name), "must be {} to {}, not {}", min_value, max_value,
                 value);
  };
  if (auto broken = check("range_pow", config.range_pow, 0, kMaxRangePow)) return broken;
  if (auto broken = check("k", config.k, 0, kMaxCodes)) return broken;
  if (config.family != HashFamily::kSimhash) {
    if (auto broken = check("bin_size", config.bin_size, kMinBinSize, kMaxBinSize)) return broken;
  }
  if (auto broken = check("tables", config.tables, 1, kMaxFunctions / std::max(config.k, 1U))) return broken;
  if (auto broken = check("bucket_capacity", config.bucket_capacity, 0, kMaxBucketCapacity)) return broken;
  if (auto broken = check("queries", config.queries, 1, kMaxQueries)) return broken;
  return check("topk_ratio", config.topk_ratio, 1, UINT32_MAX);
}

// The k codes of a fingerprint must fit into range_pow bits; the message says how to change either.
MaybeFault check_fingerprint(const HashConfig& config, const std::string& section) {
  const std::uint32_t bits = code_bits(config);
  const std::uint32_t needed = std::max(config.k, 1U) * bits;
  if (needed <= (config.range_pow == 0 ? kMaxRangePow : config.range_pow)) return std::nullopt;
  if (config.range_pow == 0) {
    return fault(section + ".k", "= {} with {}-bit codes needs 2^{} buckets: lower k, at most to {}",
                 config.k, bits, needed, kMaxRangePow / bits);
  }
  const std::string way_out =
      needed <= kMaxRangePow
          ? fmt::format("raise range_pow to {} or lower k to {}", needed, config.range_pow / bits)
          : fmt::format("lower k, at most to {} with range_pow {}", kMaxRangePow / bits, kMaxRangePow);
  return fault(section + ".k", "= {} with {}-bit codes needs 2^{} buckets, '{}.range_pow' gives 2^{}: {}",
               config.k, bits, needed, section, config.range_pow, way_out);
}

}  // namespace

std::uint32_t code_bits(const HashConfig& config) {
  if (config.family == HashFamily::kSimhash || config.bin_size < kMinBinSize) return 1;
  return static_cast<std::uint32_t>(std::bit_width(config.bin_size - 1));
}

std::uint32_t bits_of_small_buckets(std::size_t neurons) {
  const auto width = static_cast<std::uint32_t>(std::bit_width(neurons));
  return std::clamp(width, kLogBucket + 1, kLogBucket + kMaxChosenBits) - kLogBucket;
}

// Sets k first, then the number of buckets by the bits of k codes, then the capacity by the mean bucket.
HashConfig sized_for(HashConfig config, std::size_t neurons) {
  const std::uint32_t bits = code_bits(config);
  const std::uint32_t max_value = config.range_pow == 0 ? kMaxRangePow : config.range_pow;
  if (config.k == 0) {
    const std::uint32_t wanted = neurons < kFewNeurons ? kBitsOfFew : bits_of_small_buckets(neurons);
    config.k = std::max(1U, std::min(wanted, max_value) / bits);
  }
  if (config.range_pow == 0) config.range_pow = config.k * bits;
  if (config.bucket_capacity == 0) {
    const std::size_t even = neurons >> (config.k * bits);
    config.bucket_capacity = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(std::bit_ceil(4 * even), kMinChosenCapacity, kMaxBucketCapacity));
  }
  return config;
}

std::optional<HashFault> find_hash_fault(const HashConfig& config, const std::string& section) {
  if (auto broken = check_limits(config, section)) return broken;
  if (config.candidates == CandidatePolicy::kThreshold && config.threshold == 0)
    return fault(section + ".threshold", "must be above 0");
  if (config.candidates == CandidatePolicy::kThreshold && config.threshold > config.tables) {
    return fault(section + ".threshold", "= {} must not be above '{}.tables' = {}", config.threshold, section,
                 config.tables);
  }
  return check_fingerprint(config, section);
}

void check_hash_config(const HashConfig& config) {
  if (const auto broken = find_hash_fault(config, "hash")) throw InputError(broken->message);
}

}  // namespace slide

#include "tests/fuzz/cache_seal.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "engine/base/rng.h"

namespace slide::fuzz {

namespace {

constexpr std::size_t kHeaderBytes = 4096;
constexpr std::size_t kLengthAt = 3232, kHasSumAt = 3240, kSumAt = 3248, kHeaderSumAt = 3256;

std::uint64_t word_at(const std::string& bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

void put_word(std::string& bytes, std::size_t at, std::uint64_t word) {
  std::memcpy(bytes.data() + at, &word, sizeof word);
}

// Checksum of arrays smaller than a block.
std::uint64_t sum_of_arrays(const std::string& bytes) {
  std::array<std::uint64_t, 4> sums = {1, 2, 3, 4};
  for (std::size_t at = kHeaderBytes; at + 32 <= bytes.size(); at += 32) {
    for (std::size_t j = 0; j < 4; ++j)
      sums[j] = (sums[j] ^ word_at(bytes, at + 8 * j)) * 0x9e3779b97f4a7c15ULL;
  }
  return mix64(mix64(sums[0] + mix64(sums[1] + mix64(sums[2] + mix64(sums[3])))));
}

}  // namespace

void seal_cache(std::string& bytes) {
  if (bytes.size() < kHeaderBytes) return;
  put_word(bytes, kLengthAt, bytes.size());
  put_word(bytes, kHasSumAt, 1);
  put_word(bytes, kSumAt, sum_of_arrays(bytes));
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < kHeaderSumAt; at += 8) sum = mix64(sum + word_at(bytes, at));
  put_word(bytes, kHeaderSumAt, sum);
}

}  // namespace slide::fuzz

#include "lsh/hash_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "engine/base/aligned.h"
#include "engine/base/error.h"
#include "engine/base/prefetch.h"
#include "engine/kernels/kernels.h"

namespace slide::lsh {

namespace {
constexpr std::size_t kWidestPacked = 8192;  // longer rows are hashed one by one, in place
}

HashFunctions::HashFunctions(const HashConfig& config, std::size_t dim, std::uint64_t seed)
    : dim_(dim),
      k_(config.k),
      bits_(code_bits(config)),
      seed_(seed),
      frame_(dim),
      all_tables_(config.tables) {
  check_hash_config(config);
  if (dim == 0 || dim > UINT32_MAX)
    fail_input("hash tables over vectors of {} values: must be 1 to 2^32 - 1", dim);
  std::iota(all_tables_.begin(), all_tables_.end(), 0U);
}

bool HashFunctions::hashes_singly() const {
  return dim_ > kWidestPacked;
}

void HashFunctions::prepare_rows(HashScratch& scratch) const {
  const std::size_t lanes = hashes_singly() ? 1 : kRowLanes;
  grow(scratch.prints, tables() * lanes);
  grow(scratch.rows, dim_ * lanes);
  grow(scratch.packed, (dim_ + kTail) * lanes);
  grow(scratch.norms, lanes);
}

void HashFunctions::hash_centred(const CentredRows& block, HashScratch& scratch,
                                 std::uint32_t* fingerprints) const {
  hash_block({block.xt, dim_, block.lanes, block.rows.count}, all_tables_, scratch, fingerprints);
}

void HashFunctions::hash_probes(const QueryBlock& block, HashScratch& scratch, std::uint32_t* fingerprints,
                                std::uint32_t* flips) const {
  hash_block(block, all_tables_, scratch, fingerprints);
  std::fill_n(flips, tables() * block.lanes, 0U);
}

// Subtracts the mean, appends the biases, computes norms2; is_zero[b]: all weights of row b are 0.
void HashFunctions::centre(const CentredRows& block, std::uint8_t* is_zero, float* norms2) const {
  const std::size_t lanes = block.lanes;
  std::array<float, kRowLanes> sizes{};
  std::fill_n(norms2, lanes, 0.0F);
  for (std::size_t d = 0; d < dim_; ++d) {
    float* x = block.xt + d * lanes;
    const float mean = frame_.mean()[d];
    for (std::size_t b = 0; b < lanes; ++b) {
      sizes[b] += std::abs(x[b]);
      x[b] -= mean;
      norms2[b] += x[b] * x[b];
    }
  }
  float* bias = block.xt + dim_ * lanes;
  std::fill_n(bias, lanes, 0.0F);
  for (std::size_t b = 0; b < block.rows.count; ++b) {
    if (frame_.has_bias()) bias[b] = block.rows.rows.bias[block.rows.id(b)] - frame_.mean_bias();
    norms2[b] += bias[b] * bias[b];
    is_zero[b] = sizes[b] == 0.0F ? 1 : 0;
  }
}

void HashFunctions::hash_zero_rows(const CentredRows& block, const std::uint8_t* is_zero,
                                   std::uint32_t* fingerprints) const {
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << (k_ * bits_)) - 1);
  for (std::size_t b = 0; b < block.rows.count; ++b) {
    if (is_zero[b] == 0) continue;
    for (std::uint32_t t = 0; t < tables(); ++t)
      fingerprints[t * block.lanes + b] = id_hash(block.rows.id(b), t) & mask;
  }
}

// Transposes consecutive fp32 rows from where they are, others from copies in `buffer`.
void pack_rows(const RowSet& set, std::size_t dim, float* buffer, float* packed) {
  const float* source = buffer;
  std::size_t stride = dim;
  if (set.ids == nullptr && set.rows.fp32 != nullptr) {
    source = set.rows.fp32 + set.first * set.rows.stride;
    stride = set.rows.stride;
  } else {
    for (std::size_t i = 0; i < set.count; ++i) {
      float* to = buffer + i * dim;
      const float* row = fetch_row(set.rows, dim, set.id(i), to);
      if (row != to) std::copy_n(row, dim, to);
    }
  }
  kernels::active().transpose(source, stride, set.count, dim, kRowLanes, packed);
}

// Prefetches the next rows while the current ones are hashed.
void HashFunctions::prefetch_rows(const RowSet& set, std::size_t begin, std::size_t count) const {
  const WeightRows& rows = set.rows;
  const bool int8 = rows.int8.q != nullptr, bf16 = rows.pairs != nullptr;
  const std::size_t length = int8 ? dim_ : bf16 ? dim_ * 2 : dim_ * sizeof(float);
  for (std::size_t i = begin; i < std::min(begin + count, set.count); ++i) {
    const std::size_t at = set.id(i) * rows.stride;
    const void* row = int8   ? static_cast<const void*>(rows.int8.q + at)
                      : bf16 ? static_cast<const void*>(rows.pairs + at)
                             : rows.fp32 + at;
    prefetch(row, length);
  }
}

// kRowLanes rows at a time, transposed and centred; long rows one at a time. Copies the fingerprints [table
// x lane] of each group to their rows.
void HashFunctions::hash_rows(const RowSet& set, HashScratch& scratch, std::uint32_t* fingerprints,
                              std::size_t stride, float* norms2) const {
  prepare(scratch, kRowLanes);
  const std::size_t lanes = hashes_singly() ? 1 : kRowLanes;
  std::array<std::uint8_t, kRowLanes> is_zero;
  for (std::size_t begin = 0; begin < set.count; begin += lanes) {
    const RowSet part = set.part(begin, std::min(lanes, set.count - begin));
    if (hashes_singly()) {
      const float* row = fetch_row(part.rows, dim_, part.id(0), scratch.rows.data());
      std::copy_n(row, dim_, scratch.packed.data());
    } else {
      pack_rows(part, dim_, scratch.rows.data(), scratch.packed.data());
      prefetch_rows(set, begin + lanes, lanes);
    }
    const CentredRows block{scratch.packed.data(), lanes, part, scratch.norms.data()};
    centre(block, is_zero.data(), scratch.norms.data());
    hash_centred(block, scratch, scratch.prints.data());
    hash_zero_rows(block, is_zero.data(), scratch.prints.data());
    if (norms2 != nullptr) std::copy_n(scratch.norms.data(), part.count, norms2 + begin);
    for (std::size_t t = 0; t < tables(); ++t) {
      std::copy_n(scratch.prints.data() + t * lanes, part.count, fingerprints + t * stride + begin);
    }
  }
}

}  // namespace slide::lsh

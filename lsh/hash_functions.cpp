#include "lsh/hash_functions.h"

#include <algorithm>
#include <numeric>

#include "engine/base/aligned.h"
#include "engine/base/error.h"
#include "engine/base/prefetch.h"
#include "engine/kernels/kernels.h"

namespace slide::lsh {

namespace {
constexpr std::size_t kWidestPacked = 8192;  // rows longer than this are hashed one by one, where they lie
}

HashFunctions::HashFunctions(const HashConfig& config, std::size_t dim, std::uint64_t seed)
    : dim_(dim), k_(config.k), bits_(code_bits(config)), seed_(seed), all_tables_(config.tables) {
  check_hash_config(config);
  if (dim == 0 || dim > UINT32_MAX)
    fail_input("hash tables over vectors of {} values: must be 1 to 2^32 - 1", dim);
  std::iota(all_tables_.begin(), all_tables_.end(), 0U);
}

void HashFunctions::fit(const RowSet&, int) {}

bool HashFunctions::wide() const {
  return dim_ > kWidestPacked;
}

void HashFunctions::prepare_rows(HashScratch& scratch) const {
  const std::size_t lanes = wide() ? 1 : kRowLanes;
  grow(scratch.prints, tables() * lanes);
  grow(scratch.rows, dim_ * lanes);
  if (wide()) return;
  grow(scratch.packed, dim_ * lanes);
}

void HashFunctions::hash_row_block(const QueryBlock& block, HashScratch& scratch,
                                   std::uint32_t* fingerprints) const {
  hash_block(block, all_tables_, scratch, fingerprints);
}

const float* fetch_row(const WeightRows& rows, std::size_t dim, std::size_t id, float* buffer) {
  if (rows.fp32 != nullptr) return rows.fp32 + id * rows.stride;
  if (rows.int8.q != nullptr) {
    kernels::active().widen_int8(rows.int8, id, dim, buffer);
    return buffer;
  }
  kernels::active().widen(rows.pairs + id * rows.stride, dim, buffer);
  return buffer;
}

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

// Asks for the next rows while these are hashed.
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

void HashFunctions::hash_rows(const RowSet& set, HashScratch& scratch, std::uint32_t* fingerprints,
                              std::size_t stride) const {
  prepare(scratch, kRowLanes);
  const std::size_t lanes = wide() ? 1 : kRowLanes;
  for (std::size_t begin = 0; begin < set.count; begin += lanes) {
    const RowSet part = set.part(begin, std::min(lanes, set.count - begin));
    const float* xt = scratch.packed.data();
    if (wide()) {
      xt = fetch_row(part.rows, dim_, part.id(0), scratch.rows.data());
    } else {
      pack_rows(part, dim_, scratch.rows.data(), scratch.packed.data());
      prefetch_rows(set, begin + lanes, lanes);
    }
    hash_row_block({xt, dim_, lanes, part.count}, scratch, scratch.prints.data());
    for (std::size_t t = 0; t < tables(); ++t) {
      std::copy_n(scratch.prints.data() + t * lanes, part.count, fingerprints + t * stride + begin);
    }
  }
}

}  // namespace slide::lsh

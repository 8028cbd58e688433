#include "lsh/hash_functions.h"

#include <algorithm>
#include <numeric>

#include "engine/base/aligned.h"
#include "engine/base/error.h"
#include "engine/kernels/kernels.h"
#include "lsh/dwta.h"
#include "lsh/minhash.h"
#include "lsh/simhash.h"
#include "lsh/wta.h"

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
  if (wide()) return;
  grow(scratch.rows, dim_ * lanes);
  grow(scratch.packed, dim_ * lanes);
}

void HashFunctions::hash_row_block(const QueryBlock& block, HashScratch& scratch,
                                   std::uint32_t* fingerprints) const {
  hash_block(block, all_tables_, scratch, fingerprints);
}

// packed[k*kRowLanes + i] = row i, k; lanes without a row keep what they held.
void HashFunctions::pack(const RowSet& rows, HashScratch& scratch) const {
  const float* source = rows.row(0);
  std::size_t stride = rows.ldw;
  if (rows.ids != nullptr) {
    for (std::size_t i = 0; i < rows.count; ++i) {
      std::copy_n(rows.row(i), dim_, scratch.rows.data() + i * dim_);
    }
    source = scratch.rows.data();
    stride = dim_;
  }
  kernels::active().transpose(source, stride, rows.count, dim_, kRowLanes, scratch.packed.data());
}

// Asks for the next rows while these are hashed.
void HashFunctions::prefetch_rows(const RowSet& rows, std::size_t begin, std::size_t count) const {
  for (std::size_t i = begin; i < std::min(begin + count, rows.count); ++i) {
    for (std::size_t k = 0; k < dim_; k += kAlignment / sizeof(float)) __builtin_prefetch(rows.row(i) + k);
  }
}

void HashFunctions::hash_rows(const RowSet& rows, HashScratch& scratch, std::uint32_t* fingerprints,
                              std::size_t stride) const {
  prepare(scratch, kRowLanes);
  const std::size_t lanes = wide() ? 1 : kRowLanes;
  for (std::size_t begin = 0; begin < rows.count; begin += lanes) {
    const RowSet part = rows.part(begin, std::min(lanes, rows.count - begin));
    if (!wide()) {
      pack(part, scratch);
      prefetch_rows(rows, begin + lanes, lanes);
    }
    const float* xt = wide() ? part.row(0) : scratch.packed.data();
    hash_row_block({xt, dim_, lanes, part.count}, scratch, scratch.prints.data());
    for (std::size_t t = 0; t < tables(); ++t) {
      std::copy_n(scratch.prints.data() + t * lanes, part.count, fingerprints + t * stride + begin);
    }
  }
}

std::unique_ptr<HashFunctions> make_hash_functions(const HashConfig& config, std::size_t dim,
                                                   std::uint64_t seed) {
  std::unique_ptr<HashFunctions> functions;
  switch (config.family) {
    case HashFamily::kSimhash:
      functions = std::make_unique<Simhash>(config, dim, seed);
      break;
    case HashFamily::kWta:
      functions = std::make_unique<Wta>(config, dim, seed);
      break;
    case HashFamily::kDwta:
      functions = std::make_unique<Dwta>(config, dim, seed);
      break;
    case HashFamily::kMinhash:
      functions = std::make_unique<Minhash>(config, dim, seed);
      break;
  }
  if (!functions) fail_input("hash.family: unknown family {}", static_cast<int>(config.family));
  functions->draw(0);
  return functions;
}

}  // namespace slide::lsh

#include "lsh/simhash.h"

#include <algorithm>
#include <cmath>

#include "engine/base/rng.h"
#include "engine/kernels/kernels.h"

namespace slide::lsh {

namespace {

constexpr std::size_t kGroupFunctions = 192;  // functions projected together: their sums fit into L1
constexpr std::size_t kWidestDense = 16384;   // longer vectors are projected from one-byte signs

}  // namespace

Simhash::Simhash(const HashConfig& config, std::size_t dim, std::uint64_t seed)
    : HashFunctions(config, dim, seed),
      group_(std::clamp<std::size_t>(kGroupFunctions / k(), 1, tables())),
      asymmetric_(config.asymmetric),
      signs_(dim * functions()),
      projections_(dim <= kWidestDense ? functions() * round_up(dim + kTail, kernels::kLaneMultiple) : 0),
      stride_(round_up(dim + kTail, kernels::kLaneMultiple)),
      tails_(functions() * kTail) {}

// Random signs by feature, random entries for bias and padding (tails_), and both as dense rows
// (projections_).
void Simhash::draw(std::uint64_t generation) {
  const std::size_t n = functions();
  for (std::size_t feature = 0; feature < dim(); ++feature) {
    Rng rng(seed(), Purpose::kHashFunctions, generation, feature);
    for (std::size_t p = 0; p < n; ++p) {
      const std::uint32_t die = rng.below(6);
      signs_[feature * n + p] = static_cast<std::int8_t>(die == 0 ? 1 : die == 1 ? -1 : 0);
    }
  }
  for (std::size_t p = 0; p < n; ++p) {
    Rng rng(seed(), Purpose::kHashFunctions, generation, dim() + p);
    for (std::size_t i = 0; i < kTail; ++i)  // variance 1/3, as of a random sign above
      tails_[p * kTail + i] = static_cast<float>(rng.normal() * std::sqrt(1.0 / 3.0));
    std::size_t feature = 0;
    while (feature < dim() && signs_[feature * n + p] == 0) ++feature;
    if (feature < dim()) continue;
    // A projection of zeros would give every vector the same code: set one entry.
    signs_[rng.below(static_cast<std::uint32_t>(dim())) * n + p] = rng.below(2) == 0 ? 1 : -1;
  }
  if (projections_.empty()) return;
  for (std::size_t p = 0; p < n; ++p) {
    float* row = projections_.data() + p * stride_;
    for (std::size_t feature = 0; feature < dim(); ++feature)
      row[feature] = static_cast<float>(signs_[feature * n + p]);
    std::copy_n(tails_.data() + p * kTail, kTail, row + dim());
  }
}

void Simhash::prepare(HashScratch& scratch, std::size_t lanes) const {
  const std::size_t group = group_ * k();
  grow(scratch.values, group * lanes);
  grow(scratch.codes, group);
  grow(scratch.shift, group);
  prepare_rows(scratch);
}

// z[(i*K + j)*lanes + b] += x[b] * sign of function j of tables[i] at `feature`.
void Simhash::add_signs(std::size_t feature, const float* x, std::size_t lanes,
                        std::span<const std::uint32_t> tables, float* z) const {
  for (const std::uint32_t table : tables) {
    const std::int8_t* signs = signs_.data() + feature * functions() + table * k();
    for (std::size_t j = 0; j < k(); ++j, z += lanes) {
      const float s = signs[j];
      for (std::size_t b = 0; b < lanes; ++b) z[b] += s * x[b];
    }
  }
}

// values[(i*K + j)*lanes + b] = projection of column b by function j of tables[i]. A row has its bias and
// padding after it; a query has 1 there if rows have biases, then zeros.
void Simhash::project(const QueryBlock& block, std::span<const std::uint32_t> tables, bool rows,
                      HashScratch& scratch) const {
  const std::size_t n = tables.size() * k();
  float* z = scratch.values.data();
  float* shift = scratch.shift.data();
  std::uint32_t* id = scratch.codes.data();
  for (const std::uint32_t table : tables) {
    for (std::size_t j = 0; j < k(); ++j, ++id) *id = static_cast<std::uint32_t>(table * k() + j);
  }
  for (std::size_t i = 0; i < n; ++i) shift[i] = rows ? 0.0F : start_of(scratch.codes[i]);
  if (!projections_.empty()) {
    kernels::active().rows_forward(projections_.data(), stride_, scratch.codes.data(), n, shift, block.xt,
                                   block.inner, block.lanes, z);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) std::fill_n(z + i * block.lanes, block.lanes, shift[i]);
  for (std::size_t feature = 0; feature < dim(); ++feature) {
    const float* x = block.xt + feature * block.lanes;
    if (block.lanes == 1 && *x == 0.0F) continue;
    add_signs(feature, x, block.lanes, tables, z);
  }
  for (std::size_t tail = 0; tail + dim() < block.inner; ++tail) {
    const float* x = block.xt + (dim() + tail) * block.lanes;
    for (std::size_t i = 0; i < n; ++i) {
      const float s = tails_[scratch.codes[i] * kTail + tail];
      for (std::size_t b = 0; b < block.lanes; ++b) z[i * block.lanes + b] += s * x[b];
    }
  }
}

// A group of tables at a time: projects, then packs the signs of the K projections of each table.
void Simhash::hash(const QueryBlock& block, std::span<const std::uint32_t> tables, bool rows,
                   HashScratch& scratch, std::uint32_t* fingerprints, std::uint32_t* flips) const {
  const std::size_t lanes = block.lanes;
  for (std::size_t begin = 0; begin < tables.size(); begin += group_) {
    const auto group = tables.subspan(begin, std::min(group_, tables.size() - begin));
    project(block, group, rows, scratch);
    for (std::size_t i = 0; i < group.size(); ++i) {
      kernels::active().pack_signs(scratch.values.data() + i * k() * lanes, nullptr, nullptr, k(), lanes,
                                   fingerprints + (begin + i) * lanes,
                                   flips == nullptr ? nullptr : flips + (begin + i) * lanes);
    }
  }
}

void Simhash::hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                         std::uint32_t* fingerprints) const {
  hash(block, tables, false, scratch, fingerprints, nullptr);
}

void Simhash::hash_probes(const QueryBlock& block, HashScratch& scratch, std::uint32_t* fingerprints,
                          std::uint32_t* flips) const {
  hash(block, all_tables(), false, scratch, fingerprints, flips);
}

// The same for a sparse vector, from the signs of its features only.
void Simhash::hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                          std::span<const std::uint32_t> tables, HashScratch& scratch,
                          std::uint32_t* fingerprints) const {
  float* z = scratch.values.data();
  for (std::size_t begin = 0; begin < tables.size(); begin += group_) {
    const auto group = tables.subspan(begin, std::min(group_, tables.size() - begin));
    for (std::size_t i = 0; i < group.size() * k(); ++i) z[i] = start_of(group[i / k()] * k() + i % k());
    for (std::size_t i = 0; i < ids.size(); ++i) add_signs(ids[i], &values[i], 1, group, z);
    for (std::size_t i = 0; i < group.size(); ++i)
      kernels::active().pack_signs(z + i * k(), nullptr, nullptr, k(), 1, fingerprints + begin + i, nullptr);
  }
}

// Pads each row to the squared norm frame().length2(), in a direction of signs hashed from its id; longer
// rows get zeros.
void Simhash::pad_rows(const CentredRows& block) const {
  constexpr std::size_t kPadding = kTail - 1;  // coordinates after the bias
  const float scale = 1.0F / std::sqrt(static_cast<float>(kPadding));
  float* xt = block.xt + (dim() + 1) * block.lanes;
  for (std::size_t b = 0; b < block.lanes; ++b) {
    const bool used = b < block.rows.count;
    const float missing = used ? frame().length2() - block.norms2[b] : 0.0F;
    const float size = missing > 0.0F ? scale * std::sqrt(missing) : 0.0F;
    const std::uint32_t bits = used ? id_hash(block.rows.id(b), UINT32_MAX) : 0;
    for (std::size_t i = 0; i < kPadding; ++i) xt[i * block.lanes + b] = (bits >> i & 1) != 0 ? size : -size;
  }
}

void Simhash::hash_centred(const CentredRows& block, HashScratch& scratch,
                           std::uint32_t* fingerprints) const {
  if (asymmetric_) pad_rows(block);
  const std::size_t inner = dim() + (asymmetric_ ? kTail : 1);
  hash({block.xt, inner, block.lanes, block.rows.count}, all_tables(), true, scratch, fingerprints, nullptr);
}

std::size_t Simhash::bytes() const {
  return signs_.bytes() + projections_.bytes() + tails_.size() * sizeof(float);
}

double Simhash::bytes_of(const HashConfig& config, std::size_t dim) {
  const double functions = double(config.tables) * config.k;
  const double dense =
      dim <= kWidestDense ? double(round_up(dim + kTail, kernels::kLaneMultiple)) * sizeof(float) : 0.0;
  return functions * (double(dim) * sizeof(std::int8_t) + dense + double(kTail) * sizeof(float));
}

}  // namespace slide::lsh

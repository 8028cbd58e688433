#include "lsh/simhash.h"

#include <algorithm>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/kernels/kernels.h"

namespace slide::lsh {

namespace {

constexpr std::size_t kGroupFunctions =
    192;  // functions projected at once: their sums stay in the first cache
constexpr std::size_t kWidestDense = 16384;  // longer vectors are projected from the one-byte signs
constexpr std::size_t kNormRows = 1024;      // rows a task of fit() looks at

}  // namespace

Simhash::Simhash(const HashConfig& config, std::size_t dim, std::uint64_t seed)
    : HashFunctions(config, dim, seed),
      group_(std::clamp<std::size_t>(kGroupFunctions / k(), 1, tables())),
      asymmetric_(config.asymmetric),
      signs_(dim * functions()),
      projections_(dim <= kWidestDense ? functions() * round_up(dim, kernels::kLaneMultiple) : 0),
      stride_(round_up(dim, kernels::kLaneMultiple)),
      extra_(functions()) {}

void Simhash::draw(std::uint64_t generation) {
  const std::size_t n = functions();
  for (std::size_t feature = 0; feature < dim(); ++feature) {
    Rng rng(seed(), Purpose::kHashFunctions, generation, feature);
    for (std::size_t p = 0; p < n; ++p) {
      const std::uint32_t face = rng.below(6);
      signs_[feature * n + p] = static_cast<std::int8_t>(face == 0 ? 1 : face == 1 ? -1 : 0);
    }
  }
  for (std::size_t p = 0; p < n; ++p) {
    Rng rng(seed(), Purpose::kHashFunctions, generation, dim() + p);
    extra_[p] = static_cast<float>(rng.normal() * std::sqrt(1.0 / 3.0));  // variance of the other entries
    std::size_t feature = 0;
    while (feature < dim() && signs_[feature * n + p] == 0) ++feature;
    if (feature < dim()) continue;
    // A projection that sees nothing would give every vector the same code.
    signs_[rng.below(static_cast<std::uint32_t>(dim())) * n + p] = rng.below(2) == 0 ? 1 : -1;
  }
  if (projections_.empty()) return;
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t feature = 0; feature < dim(); ++feature) {
      projections_[p * stride_ + feature] = static_cast<float>(signs_[feature * n + p]);
    }
  }
}

void Simhash::fit(const RowSet& set, int threads) {
  if (!asymmetric_) return;
  std::vector<float> largest((set.count + kNormRows - 1) / kNormRows, 0.0F);
  parallel_for(largest.size(), threads, [&](std::size_t task, int) {
    const std::size_t end = std::min(set.count, (task + 1) * kNormRows);
    std::vector<float> buffer(dim());
    for (std::size_t i = task * kNormRows; i < end; ++i) {
      const float* row = fetch_row(set.rows, dim(), set.id(i), buffer.data());
      largest[task] = std::max(largest[task], kernels::active().dot(row, row, dim()));
    }
  });
  largest_norm2_ = largest.empty() ? 0.0F : *std::max_element(largest.begin(), largest.end());
}

void Simhash::prepare(HashScratch& scratch, std::size_t lanes) const {
  const std::size_t group = group_ * k();
  grow(scratch.values, (group + 1) * lanes);  // projections, extra coordinates
  grow(scratch.codes, group);
  prepare_rows(scratch);
}

// z[i*lanes + b] += x[b] * sign, for the K functions of each table in turn.
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

// values[(i*K + j)*lanes + b] = projection of lane b by function j of tables[i].
void Simhash::project(const QueryBlock& block, std::span<const std::uint32_t> tables,
                      HashScratch& scratch) const {
  const std::size_t n = tables.size() * k();
  float* z = scratch.values.data();
  if (!projections_.empty()) {
    std::uint32_t* row = scratch.codes.data();
    for (const std::uint32_t table : tables) {
      for (std::size_t j = 0; j < k(); ++j) *row++ = static_cast<std::uint32_t>(table * k() + j);
    }
    kernels::active().rows_forward(projections_.data(), stride_, scratch.codes.data(), n, nullptr, block.xt,
                                   dim(), block.lanes, z);
    return;
  }
  std::fill_n(z, n * block.lanes, 0.0F);
  for (std::size_t feature = 0; feature < dim(); ++feature) {
    const float* x = block.xt + feature * block.lanes;
    if (block.lanes == 1 && *x == 0.0F) continue;
    add_signs(feature, x, block.lanes, tables, z);
  }
}

// One fingerprint a table and lane, from z of project(). `scale` is as in the kernel, for these tables.
void Simhash::pack_signs(std::size_t tables, std::size_t lanes, const float* z, const float* scale,
                         const float* extra, std::uint32_t* fingerprints) const {
  for (std::size_t i = 0; i < tables; ++i) {
    kernels::active().pack_signs(z + i * k() * lanes, scale == nullptr ? nullptr : scale + i * k(), extra,
                                 k(), lanes, fingerprints + i * lanes, nullptr);
  }
}

void Simhash::hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                         std::uint32_t* fingerprints) const {
  for (std::size_t begin = 0; begin < tables.size(); begin += group_) {
    const auto group = tables.subspan(begin, std::min(group_, tables.size() - begin));
    project(block, group, scratch);
    pack_signs(group.size(), block.lanes, scratch.values.data(), nullptr, nullptr,
               fingerprints + begin * block.lanes);
  }
}

void Simhash::hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                          std::span<const std::uint32_t> tables, HashScratch& scratch,
                          std::uint32_t* fingerprints) const {
  float* z = scratch.values.data();
  for (std::size_t begin = 0; begin < tables.size(); begin += group_) {
    const auto group = tables.subspan(begin, std::min(group_, tables.size() - begin));
    std::fill_n(z, group.size() * k(), 0.0F);
    for (std::size_t i = 0; i < ids.size(); ++i) add_signs(ids[i], &values[i], 1, group, z);
    pack_signs(group.size(), 1, z, nullptr, nullptr, fingerprints + begin);
  }
}

// extra[b] = sqrt(M^2 - |row b|^2): every row gets the norm M, so that the angle to a query orders rows by
// inner product (Neyshabur and Srebro 2015, section 4). A row that outgrew M since fit() gets 0. A query's is
// 0.
void Simhash::extra_coordinates(const QueryBlock& block, float* extra) const {
  std::fill_n(extra, block.lanes, 0.0F);
  for (std::size_t feature = 0; feature < dim(); ++feature) {
    const float* x = block.xt + feature * block.lanes;
    for (std::size_t b = 0; b < block.lanes; ++b) extra[b] += x[b] * x[b];
  }
  for (std::size_t b = 0; b < block.lanes; ++b)
    extra[b] = std::sqrt(std::max(0.0F, largest_norm2_ - extra[b]));
}

void Simhash::hash_row_block(const QueryBlock& block, HashScratch& scratch,
                             std::uint32_t* fingerprints) const {
  if (!asymmetric_) {
    hash_block(block, all_tables(), scratch, fingerprints);
    return;
  }
  float* extra = scratch.values.data() + group_ * k() * block.lanes;
  extra_coordinates(block, extra);
  for (std::size_t begin = 0; begin < tables(); begin += group_) {
    const auto group = all_tables().subspan(begin, std::min(group_, tables() - begin));
    project(block, group, scratch);
    pack_signs(group.size(), block.lanes, scratch.values.data(), extra_.data() + begin * k(), extra,
               fingerprints + begin * block.lanes);
  }
}

std::size_t Simhash::bytes() const {
  return signs_.bytes() + projections_.bytes() + extra_.size() * sizeof(float);
}

}  // namespace slide::lsh

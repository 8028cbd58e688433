#include "lsh/wta.h"

#include <algorithm>
#include <numeric>

#include "engine/base/rng.h"
#include "lsh/argmax.h"

namespace slide::lsh {

Wta::Wta(const HashConfig& config, std::size_t dim, std::uint64_t seed)
    : HashFunctions(config, dim, seed),
      width_(std::min<std::size_t>(config.bin_size, dim)),
      windows_(functions() * width_) {}

void Wta::draw(std::uint64_t generation) {
  std::vector<std::uint32_t> order(dim());
  std::iota(order.begin(), order.end(), 0U);
  Rng rng(seed(), Purpose::kHashFunctions, generation);
  for (std::size_t p = 0; p < functions(); ++p) {
    // The first steps of a Fisher-Yates shuffle, from any order.
    for (std::size_t i = 0; i < width_; ++i) {
      std::swap(order[i], order[i + rng.below(static_cast<std::uint32_t>(dim() - i))]);
      windows_[p * width_ + i] = order[i];
    }
  }
}

void Wta::prepare(HashScratch& scratch, std::size_t lanes) const {
  grow(scratch.codes, lanes);
  grow(scratch.dense, dim());
  prepare_rows(scratch);
}

void Wta::hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                     std::uint32_t* fingerprints) const {
  std::uint32_t* codes = scratch.codes.data();
  for (const std::uint32_t table : tables) {
    std::fill_n(fingerprints, block.lanes, 0U);
    for (std::size_t j = 0; j < k(); ++j) {
      const std::uint32_t* window = windows_.data() + (table * k() + j) * width_;
      argmax_lanes(block.xt, block.lanes, window, width_, false, codes);
      for (std::size_t b = 0; b < block.lanes; ++b) fingerprints[b] |= codes[b] << (j * bits());
    }
    fingerprints += block.lanes;
  }
}

void Wta::hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                      std::span<const std::uint32_t> tables, HashScratch& scratch,
                      std::uint32_t* fingerprints) const {
  for (std::size_t i = 0; i < ids.size(); ++i) scratch.dense[ids[i]] = values[i];
  hash_block({scratch.dense.data(), dim(), 1, 1}, tables, scratch, fingerprints);
  for (const std::uint32_t id : ids) scratch.dense[id] = 0.0F;
}

}  // namespace slide::lsh

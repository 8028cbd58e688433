// Winner-take-all hashing, WTA (Yagnik, Strelow, Ross and Lin 2011): a hash function compares the first
// bin_size entries of a random permutation of the vector; the code is the position of the maximum, which
// depends on the order of values only. Ties: the lowest position. Thread safety as in HashFunctions.
#include <algorithm>
#include <numeric>

#include "engine/base/rng.h"
#include "lsh/argmax.h"
#include "lsh/hash_families.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

namespace {

class Wta final : public HashFunctions {
 public:
  Wta(const HashConfig& config, std::size_t dim, std::uint64_t seed)
      : HashFunctions(config, dim, seed),
        width_(std::min<std::size_t>(config.bin_size, dim)),
        windows_(functions() * width_) {}

  void draw(std::uint64_t generation) override {
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

  void prepare(HashScratch& scratch, std::size_t lanes) const override {
    grow(scratch.codes, lanes);
    grow(scratch.dense, dim());
    prepare_rows(scratch);
  }

  // Code of a function for all columns at once: the position of the largest value in its window.
  void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                  std::uint32_t* fingerprints) const override {
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

  void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                   std::span<const std::uint32_t> tables, HashScratch& scratch,
                   std::uint32_t* fingerprints) const override {
    for (std::size_t i = 0; i < ids.size(); ++i) scratch.dense[ids[i]] = values[i];
    hash_block({scratch.dense.data(), dim(), 1, 1}, tables, scratch, fingerprints);
    for (const std::uint32_t id : ids) scratch.dense[id] = 0.0F;
  }

  std::size_t bytes() const override { return windows_.size() * sizeof(std::uint32_t); }

 private:
  std::size_t width_;                   // entries compared: bin_size, or dim if that is smaller
  std::vector<std::uint32_t> windows_;  // [functions][width_] features
};

}  // namespace

std::unique_ptr<HashFunctions> make_wta(const HashConfig& config, std::size_t dim, std::uint64_t seed) {
  return std::make_unique<Wta>(config, dim, seed);
}

}  // namespace slide::lsh

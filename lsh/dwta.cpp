// Densified winner-take-all hashing, DWTA (Chen and Shrivastava 2018): permutations cut the features into
// bins, one bin per hash function; the code is the position of the bin's maximum. Zeros count as absent; an
// empty bin borrows the code of another bin. Ties: the lowest position. The zero vector has code 0. Thread
// safety as in HashFunctions.
#include <algorithm>
#include <limits>

#include "lsh/argmax.h"
#include "lsh/feature_bins.h"
#include "lsh/hash_families.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

namespace {

class Dwta final : public HashFunctions {
 public:
  Dwta(const HashConfig& config, std::size_t dim, std::uint64_t seed)
      : HashFunctions(config, dim, seed), bins_(functions(), config.bin_size, dim) {}

  void draw(std::uint64_t generation) override {
    bins_.draw(Rng(seed(), Purpose::kHashFunctions, generation));
  }

  void prepare(HashScratch& scratch, std::size_t lanes) const override {
    grow(scratch.values, bins_.bins());
    grow(scratch.codes, std::max(lanes, bins_.bins()));
    prepare_rows(scratch);
  }

  // Code of a bin for all columns at once: the position of the largest nonzero value among the bin's
  // features.
  void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                  std::uint32_t* fingerprints) const override {
    const std::uint32_t* where = scratch.codes.data();
    for (const std::uint32_t table : tables) {
      std::fill_n(fingerprints, block.lanes, 0U);
      for (std::size_t j = 0; j < k(); ++j) {
        const std::size_t bin = table * k() + j;
        argmax_lanes(block.xt, block.lanes, bins_.features(bin).data(), bins_.width(), true,
                     scratch.codes.data());
        for (std::size_t b = 0; b < block.samples; ++b) {
          const bool empty = where[b] == kNowhere;
          fingerprints[b] |= (empty ? borrowed_code(block, b, bin) : bins_.code(where[b])) << (j * bits());
        }
      }
      fingerprints += block.lanes;
    }
  }

  // One pass over the nonzero values keeps the largest value of every bin and its position.
  void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                   std::span<const std::uint32_t> tables, HashScratch& scratch,
                   std::uint32_t* fingerprints) const override {
    float* best = scratch.values.data();
    std::uint32_t* where = scratch.codes.data();
    std::fill_n(best, bins_.bins(), -std::numeric_limits<float>::infinity());
    std::fill_n(where, bins_.bins(), kNowhere);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const float value = values[i];
      if (value == 0.0F) continue;
      bins_.for_each_bin(ids[i], [&](std::size_t bin, std::uint32_t position) {
        const bool earlier = value == best[bin] && where[bin] != kNowhere && position < where[bin];
        if (!(value > best[bin]) && !earlier) return;
        best[bin] = value;
        where[bin] = position;
      });
    }
    for (std::size_t i = 0; i < tables.size(); ++i)
      fingerprints[i] = bins_.pack(where, tables[i], k(), bits());
  }

  std::size_t bytes() const override { return bins_.bytes(); }

 private:
  // Densification: the code that column `lane` borrows for the empty bin `bin`.
  std::uint32_t borrowed_code(const QueryBlock& block, std::size_t lane, std::size_t bin) const {
    for (std::uint32_t attempt = 0; attempt < FeatureBins::kAttempts; ++attempt) {
      const auto features = bins_.features(bins_.donor(bin, attempt));
      std::uint32_t where = kNowhere;
      float best = -std::numeric_limits<float>::infinity();
      for (std::uint32_t i = 0; i < features.size(); ++i) {
        const float value = block.xt[features[i] * block.lanes + lane];
        if (value == 0.0F || !(value > best)) continue;
        best = value;
        where = i;
      }
      if (where != kNowhere) return bins_.code(where);
    }
    return 0;
  }

  FeatureBins bins_;
};

}  // namespace

std::unique_ptr<HashFunctions> make_dwta(const HashConfig& config, std::size_t dim, std::uint64_t seed) {
  return std::make_unique<Dwta>(config, dim, seed);
}

}  // namespace slide::lsh

// Densified one-permutation MinHash (Shrivastava 2017) of the set of a vector's largest values: the
// 1/topk_ratio of all features with the largest values (ties: the lower id), without zeros. Permutations cut
// the features into bins, one per hash function; the code is the position of the first feature of the bin in
// the set; an empty bin borrows the code of another bin. Sets with a large Jaccard index share codes often.
// The empty set has code 0. Thread safety as in HashFunctions.
#include <algorithm>
#include <cmath>

#include "lsh/argmax.h"
#include "lsh/feature_bins.h"
#include "lsh/hash_families.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

namespace {

bool is_absent(float value) {
  return value == 0.0F || std::isnan(value);
}

class Minhash final : public HashFunctions {
 public:
  Minhash(const HashConfig& config, std::size_t dim, std::uint64_t seed)
      : HashFunctions(config, dim, seed),
        set_size_(std::max<std::size_t>(1, dim / std::max(1U, config.topk_ratio))),
        bins_(functions(), config.bin_size, dim) {}

  void draw(std::uint64_t generation) override {
    bins_.draw(Rng(seed(), Purpose::kHashFunctions, generation));
  }

  void prepare(HashScratch& scratch, std::size_t) const override {
    grow(scratch.values, dim());
    grow(scratch.ids, dim());
    grow(scratch.codes, bins_.bins());
    prepare_rows(scratch);
  }

  // Sample by sample: collects the nonzero values, then hashes their set.
  void hash_block(const QueryBlock& block, std::span<const std::uint32_t> tables, HashScratch& scratch,
                  std::uint32_t* fingerprints) const override {
    for (std::size_t b = 0; b < block.samples; ++b) {
      std::size_t found = 0;
      for (std::size_t feature = 0; feature < dim(); ++feature) {
        const float value = block.xt[feature * block.lanes + b];
        if (is_absent(value)) continue;
        scratch.values[feature] = value;
        scratch.ids[found++] = static_cast<std::uint32_t>(feature);
      }
      hash_set(found, tables, scratch, fingerprints + b, block.lanes);
    }
  }

  void hash_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                   std::span<const std::uint32_t> tables, HashScratch& scratch,
                   std::uint32_t* fingerprints) const override {
    std::size_t found = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (is_absent(values[i])) continue;
      scratch.values[ids[i]] = values[i];
      scratch.ids[found++] = ids[i];
    }
    hash_set(found, tables, scratch, fingerprints, 1);
  }

  std::size_t bytes() const override { return bins_.bytes(); }

 private:
  // Chooses the set from `found` non-zero features, scratch.ids with scratch.values, and hashes it.
  void hash_set(std::size_t found, std::span<const std::uint32_t> tables, HashScratch& scratch,
                std::uint32_t* fingerprints, std::size_t stride) const {
    const float* value = scratch.values.data();
    std::uint32_t* ids = scratch.ids.data();
    const std::size_t size = std::min(set_size_, found);
    std::nth_element(ids, ids + size, ids + found, [value](std::uint32_t a, std::uint32_t b) {
      return value[a] != value[b] ? value[a] > value[b] : a < b;
    });
    std::uint32_t* first = scratch.codes.data();
    std::fill_n(first, bins_.bins(), kNowhere);
    for (std::size_t i = 0; i < size; ++i) {
      bins_.for_each_bin(ids[i], [&](std::size_t bin, std::uint32_t position) {
        first[bin] = std::min(first[bin], position);
      });
    }
    for (std::size_t i = 0; i < tables.size(); ++i) {
      fingerprints[i * stride] = bins_.pack(first, tables[i], k(), bits());
    }
  }

  std::size_t set_size_;
  FeatureBins bins_;
};

}  // namespace

std::unique_ptr<HashFunctions> make_minhash(const HashConfig& config, std::size_t dim, std::uint64_t seed) {
  return std::make_unique<Minhash>(config, dim, seed);
}

}  // namespace slide::lsh

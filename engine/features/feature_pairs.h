// Pairs of features that say more of some label together than either does alone, as further features of the
// first layer: what hidden units learn of a pair, they cannot of single features that few samples have.
//
// A row's pair (a, b) has the value kPairScale * sqrt(|x_a| * |x_b|), and what the row had stays. Only its
// kPairedFeatures entries of largest |value| are paired. Pairs are numbered behind the features: the p-th of
// them is feature features() + p.
//
// Immutable, safe to use from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/features/growth.h"
#include "engine/features/paired_entries.h"

namespace slide {

inline constexpr float kPairScale = 0.5f;
inline constexpr std::size_t kMostPairs = 80000;
inline constexpr std::uint32_t kLeastTogether = 5, kLeastOfLabel = 3;  // samples that have a pair
inline constexpr std::size_t kPairSlots = std::size_t{1} << 24;        // a power of 2
inline constexpr std::size_t kPairSamples = 4096;  // of a label that are looked at, spread evenly

struct FeaturePair {
  std::uint32_t first = 0, second = 0;  // first < second
  bool operator==(const FeaturePair&) const = default;
  bool operator<(const FeaturePair& other) const {
    return first < other.first || (first == other.first && second < other.second);
  }
};

class FeaturePairs {
 public:
  // No pairs: rows stay as they are.
  FeaturePairs() = default;
  // Strictly ascending pairs of features below `features` (are_good).
  FeaturePairs(std::vector<FeaturePair> pairs, std::size_t features);

  // Of each label the `a_label` pairs that say most of it, at most kMostPairs of all, those with the most to
  // say: with n samples having both features and the label, of m having both, and p_a, p_b the shares with
  // the label of the samples that have a feature, n ln((n / (m + 1)) / (1 - (1 - p_a)(1 - p_b))), the gain
  // over two features that speak independently. Pairs count that kLeastTogether samples have, kLeastOfLabel
  // of the label among them. m is counted in up to kPairSlots slots by hash, so that it may be too large, but
  // no pair takes memory of its own. Neither depends on `threads`. None where `train` has dense columns.
  static FeaturePairs choose(const Dataset& train, std::uint32_t a_label, int threads);

  // Whether pairs from a file can be such, of so many features.
  static bool are_good(std::span<const FeaturePair> pairs, std::size_t features);
  // The same pairs under today's numbers of their features, none of which is gone.
  FeaturePairs grown(const IdGrowth& features) const;

  bool active() const { return !pairs_.empty(); }
  std::size_t size() const { return pairs_.size(); }
  std::size_t features() const { return features_; }  // without pairs
  std::span<const FeaturePair> pairs() const { return pairs_; }
  // Of entries of a row that has so many features, with its pairs, at most.
  std::size_t most_entries(std::size_t features) const;

  // The row with its pairs. Where it has any, its ids and values are appended to `ids` and `values`, and it
  // is good as long as they do not move: the row must not lie in them where they have no room for it. Ids
  // must be below features().
  SparseRow paired(const SparseRow& row, std::vector<std::uint32_t>& ids, std::vector<float>& values) const;
  // All samples so, of features() + size() features, in new arrays; labels, weights and all else are shared.
  Dataset paired(const Dataset& data, int threads) const;

 private:
  struct Found;
  static constexpr std::uint8_t kFirst = 1, kSecond = 2;
  // The pairs of a row, ascending.
  void find(const SparseRow& row, Found& found) const;
  // The row and its pairs.
  static void put(const SparseRow& row, const Found& found, std::uint32_t* ids, float* values);

  std::vector<FeaturePair> pairs_;
  std::size_t features_ = 0;
  std::vector<std::uint8_t> member_of_;  // by feature: kFirst and kSecond where it is that of some pair
  // By a hash of a pair: a bit where there may be one. Few are set, and all stay in a near cache.
  std::vector<std::uint64_t> bits_;
  // By its lower bits, or at the next free place: where the pair stands in pairs_, from 1 on. Most are free,
  // 0.
  std::vector<std::uint32_t> places_;
};

}  // namespace slide

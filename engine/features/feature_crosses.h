// Pairs of features that say more of some label together than either does alone, as further features of the
// first layer: what hidden units learn of a pair, they cannot of single features that few samples have.
//
// A row's pair (a, b) has the value kCrossScale * sqrt(|x_a| * |x_b|), and what the row had stays. Only its
// kCrossedFeatures entries of largest |value| are paired. crosses are numbered behind the features: the p-th
// of them is feature features() + p.
//
// Immutable, safe to use from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/features/crossed_entries.h"
#include "engine/features/growth.h"

namespace slide {

inline constexpr float kCrossScale = 0.5f;
inline constexpr std::size_t kMaxCrosses = 80000;
inline constexpr std::uint32_t kMinTogether = 5, kMinOfLabel = 3;  // samples that have a pair
inline constexpr std::size_t kCrossSlots = std::size_t{1} << 24;   // a power of 2
inline constexpr std::size_t kCrossSamples = 4096;  // of a label that are looked at, spread evenly

struct FeatureCross {
  std::uint32_t first = 0, second = 0;  // first < second
  bool operator==(const FeatureCross&) const = default;
  bool operator<(const FeatureCross& other) const {
    return first < other.first || (first == other.first && second < other.second);
  }
};

class FeatureCrosses {
 public:
  // No crosses: rows stay as they are.
  FeatureCrosses() = default;
  // Strictly ascending feature crosses below `features` (are_good).
  FeatureCrosses(std::vector<FeatureCross> crosses, std::size_t features);

  // Of each label the `a_label` crosses that say most of it, at most kMaxCrosses of all, those with the most
  // to say: with n samples having both features and the label, of m having both, and p_a, p_b the shares with
  // the label of the samples that have a feature, n ln((n / (m + 1)) / (1 - (1 - p_a)(1 - p_b))), the gain
  // over two features that speak independently. crosses count that kMinTogether samples have, kMinOfLabel
  // of the label among them. m is counted in up to kCrossSlots slots by hash, so that it may be too large,
  // but no pair takes memory of its own. Neither depends on `threads`. None where `train` has dense columns.
  static FeatureCrosses choose(const Dataset& train, std::uint32_t a_label, int threads);

  // Whether crosses from a file can be such, of so many features.
  static bool are_good(std::span<const FeatureCross> crosses, std::size_t features);
  // The same crosses under today's numbers of their features, none of which is gone.
  FeatureCrosses grown(const IdGrowth& features) const;

  bool active() const { return !crosses_.empty(); }
  std::size_t size() const { return crosses_.size(); }
  std::size_t features() const { return features_; }  // without crosses
  std::span<const FeatureCross> crosses() const { return crosses_; }
  // Of entries of a row that has so many features, with its crosses, at most.
  std::size_t most_entries(std::size_t features) const;

  // The row with its crosses. Where it has any, its ids and values are appended to `ids` and `values`, and it
  // is good as long as they do not move: the row must not lie in them where they have no room for it. Ids
  // must be below features().
  SparseRow crossed(const SparseRow& row, std::vector<std::uint32_t>& ids, std::vector<float>& values) const;
  // All samples so, of features() + size() features, in new arrays; labels, weights and all else are shared.
  Dataset crossed(const Dataset& data, int threads) const;

 private:
  struct Found;
  static constexpr std::uint8_t kFirst = 1, kSecond = 2;
  // The crosses of a row, ascending.
  void find(const SparseRow& row, Found& found) const;
  // The row and its crosses.
  static void put(const SparseRow& row, const Found& found, std::uint32_t* ids, float* values);

  std::vector<FeatureCross> crosses_;
  std::size_t features_ = 0;
  std::vector<std::uint8_t> member_of_;  // by feature: kFirst and kSecond where it is that of some pair
  // By a hash of a pair: a bit where there may be one. Few are set, and all stay in a near cache.
  std::vector<std::uint64_t> bits_;
  // By its lower bits, or at the next free place: where the pair stands in pairs_, from 1 on. Most are free,
  // 0.
  std::vector<std::uint32_t> places_;
};

}  // namespace slide

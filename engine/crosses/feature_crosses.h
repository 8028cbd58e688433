// Feature crosses (second-order interactions): pairs of features that together predict some label better than
// the two features do independently. They are appended to the inputs of the first layer, because hidden units
// cannot learn the conjunction from few samples.
//
// The cross (a, b) of a row has the value kCrossScale * sqrt(|x_a| * |x_b|). Only the kCrossedFeatures
// entries of a row with the largest |value| form crosses. Cross number p has feature id features() + p; the
// row keeps its original entries. Dense columns are the last of the features(); they form no crosses.
//
// Immutable, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/crosses/crossed_entries.h"
#include "engine/statistics/growth.h"

namespace slide {

inline constexpr float kCrossScale = 0.5f;  // of the value of a cross
inline constexpr std::size_t kMaxCrosses = 80000;
// Min number of samples with both features; and of these, with the label.
inline constexpr std::uint32_t kMinTogether = 5, kMinOfLabel = 3;
inline constexpr std::size_t kCrossSlots = std::size_t{1} << 24;  // a power of 2
// Max samples of a label that are inspected, evenly spaced.
inline constexpr std::size_t kCrossSamples = 4096;

struct FeatureCross {
  std::uint32_t first = 0, second = 0;  // first < second
  bool operator==(const FeatureCross&) const = default;
  bool operator<(const FeatureCross& other) const {
    return first < other.first || (first == other.first && second < other.second);
  }
};

class FeatureCrosses {
 public:
  // No crosses: rows stay unchanged.
  FeatureCrosses() = default;
  // Takes strictly ascending crosses of features below `features` (see are_valid).
  FeatureCrosses(std::vector<FeatureCross> crosses, std::size_t features);

  // Selects for each label the `per_label` crosses of highest gain, and of all of these the kMaxCrosses of
  // highest gain. The gain of a cross for a label, over two features that predict independently, is
  //   n ln((n / (m + 1)) / (1 - (1 - p_a)(1 - p_b)))
  // with n samples that have both features and the label, m samples that have both features, and p_a, p_b the
  // share of the label among the samples that have each feature. A cross needs kMinTogether samples,
  // kMinOfLabel of them with the label. m is counted in up to kCrossSlots hash slots: collisions overestimate
  // m, and memory does not grow with the number of crosses. The result does not depend on `threads`.
  static FeatureCrosses choose(const Dataset& train, std::uint32_t per_label, int threads);

  // Peak memory of choose(), without the result.
  static double choosing_bytes_of(const Dataset& train, std::uint32_t per_label, int threads);

  // Returns whether crosses read from a file are valid for `features` features.
  static bool are_valid(std::span<const FeatureCross> crosses, std::size_t features);
  // Returns the same crosses with the new ids of their features; none of these features may be dropped.
  FeatureCrosses grown(const IdGrowth& features) const;

  bool active() const { return !crosses_.empty(); }
  std::size_t size() const { return crosses_.size(); }
  std::size_t features() const { return features_; }  // without crosses
  std::span<const FeatureCross> crosses() const { return crosses_; }
  // Upper bound of the entries of a row with `features` features, crosses included.
  std::size_t max_entries(std::size_t features) const;

  // Returns the row with its crosses appended. Where crosses are found, the ids and values are appended to
  // `ids` and `values`; the result is valid while these two do not reallocate, and `row` must not lie in
  // memory that the append reallocates. Feature ids must be below features().
  SparseRow crossed(const SparseRow& row, std::vector<std::uint32_t>& ids, std::vector<float>& values) const;
  // Returns all samples with crosses, of features() + size() features, in new arrays; labels, weights and
  // everything else are shared with `data`. Dense columns keep their ids; the ids of crosses follow.
  Dataset crossed(const Dataset& data, int threads) const;

 private:
  struct Found;                                           // the crosses of a row
  static constexpr std::uint8_t kFirst = 1, kSecond = 2;  // bits of member_of_
  struct Likely;                                          // a pair that passes the Bloom filter
  // Finds the crosses of a row, ascending.
  void find(const SparseRow& row, Found& found) const;
  std::size_t list_likely(std::span<const std::uint32_t> ids, Likely* likely) const;
  // Writes the row and its crosses.
  static void put(const SparseRow& row, const Found& found, std::uint32_t* ids, float* values);

  std::vector<FeatureCross> crosses_;
  std::size_t features_ = 0;
  // by feature: bits kFirst and kSecond, whether it is first or second of some cross
  std::vector<std::uint8_t> member_of_;
  // Bloom filter of the crosses, one hash function; sparse, and small enough for a near cache.
  std::vector<std::uint64_t> bits_;
  // Hash table of the crosses, linear probing by the lower bits of the hash: 1 + index in crosses_, or 0 for
  // a free slot. Most slots are free.
  std::vector<std::uint32_t> slots_;
};

}  // namespace slide

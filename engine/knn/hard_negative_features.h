// Hard-negative features of a label: features that co-occur with the label's strongest features in samples of
// other labels. The label's own samples do not have them, so that a linear term built from these samples
// alone cannot learn negative weights for them. Label trees learn such weights from the samples that reach a
// node.
//
// The co-occurring features of a feature are computed once, on first use, and cached. A label merges the
// lists of its strongest features, so that its cost does not grow with the length of samples.
//
// A feature counts as present in a sample also where its value is 0.
//
// Safe from any thread; results do not depend on the order of calls; one Scratch per thread. The data set and
// the scale must outlive the object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/statistics/feature_scale.h"
#include "engine/statistics/label_sums.h"

namespace slide {

class HardNegativeFeatures {
 public:
  static constexpr std::size_t kStrongest = 16;   // strongest features of a label that are used
  static constexpr std::size_t kSamples = 8;      // sampled samples per feature, evenly spaced
  static constexpr std::size_t kMaxOfRow = 4096;  // features of a sample that one list counts
  static constexpr std::size_t kListed = 4;       // multiple of `wanted`: cached per feature
  static constexpr std::size_t kTaken = 1;        // multiple of `wanted`: used per list

  // Uses the samples of `train`, scaled by `scale`; each label gets up to `wanted` features. The co-occurring
  // features of feature t are the features f with the largest sum of |x[t] x[f]| over the sampled samples x
  // of t; a feature of a single sample has none.
  HardNegativeFeatures(const Dataset& train, const FeatureScale& scale, std::size_t wanted);

  struct Cooccurring {
    std::uint32_t feature;
    float weight;
  };
  struct Scratch {
    std::vector<float> similarity;   // by feature, zero between calls
    std::vector<std::uint32_t> ids;  // features of nonzero similarity, plus one slot
    std::vector<std::uint32_t> strongest;
    std::vector<std::uint32_t> found;
    std::vector<float> scaled;  // one sample
    std::vector<Cooccurring> list;
  };
  Scratch make_scratch() const;
  // Upper bound, reached when all labels are queried.
  static double bytes_of(double labels, double features, double wanted);
  static double scratch_bytes_of(double features);

  // Appends to `out` up to `wanted` features that do not occur in the sum s of a label's samples, unordered:
  // those with the largest sum of |s[t]| * weight of the co-occurring feature, over the strongest features t
  // of s.
  void find(const LabelSums::Sum& sum, Scratch& scratch, std::vector<std::uint32_t>& out) const;

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;  // co-occurring features per allocation

  // Returns a list, strongest first; the entry before the first holds the length in `feature`.
  const Cooccurring* cooccurring(std::uint32_t feature, Scratch& scratch) const;
  void make_list(std::uint32_t feature, Scratch& scratch) const;
  const Cooccurring* keep(const std::vector<Cooccurring>& list) const;

  const Dataset& train_;
  const FeatureScale& scale_;
  std::size_t wanted_;
  std::vector<std::uint32_t> samples_;                               // [feature][kSamples]
  std::vector<std::uint8_t> counts_;                                 // by feature: number of sampled samples
  mutable std::vector<std::atomic<const Cooccurring*>> by_feature_;  // nullptr: not computed yet
  mutable std::mutex mutex_;                                         // guards the members below
  mutable std::vector<AlignedArray<Cooccurring>> blocks_;
  mutable std::size_t free_ = 0;        // free entries of the last block
  mutable Cooccurring* end_ = nullptr;  // end of the last block
};

}  // namespace slide

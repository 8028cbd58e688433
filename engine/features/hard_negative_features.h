// Features that may speak against a label: those of training samples that look like its own and do not carry
// it. The features of a label's own samples cannot say what it is told from (an item that was seen before is
// seldom wanted again; a word that only its neighbours use). The nodes of a label tree learn that from the
// samples that reach them.
//
// What comes with a feature is found once, when a label asks for it, and kept as a list; a label looks into
// the lists of its strongest features, so that its cost does not grow with the length of samples.
//
// A sample has the features that it names, also those of value 0.
//
// Safe from any thread, and the same whatever the order of calls; one Scratch a thread. The data set and the
// scale must outlive it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "datasets/dataset.h"
#include "engine/features/feature_scale.h"
#include "engine/features/label_sums.h"

namespace slide {

class HardNegativeFeatures {
 public:
  static constexpr std::size_t kStrongest =
      16;                                     // features of a label whose co-occurring features are looked at
  static constexpr std::size_t kSamples = 8;  // of each feature, spread evenly over the data
  static constexpr std::size_t kListed = 4;   // co-occurring features of a feature that are kept,
  static constexpr std::size_t kTaken = 1;  // and that a label takes from one list, as multiples of `wanted`

  // Of the samples of `train` as `scale` makes them; each label wants up to `wanted` features. The
  // co-occurring features of feature t are the features f of the largest sum of |x[t] x[f]| over the samples
  // x that are looked at, of a feature that several samples have.
  HardNegativeFeatures(const Dataset& train, const FeatureScale& scale, std::size_t wanted);

  struct Cooccurring {
    std::uint32_t feature;
    float weight;
  };
  struct Scratch {
    std::vector<float> similarity;   // by feature, zero between calls
    std::vector<std::uint32_t> ids;  // room for those with a similarity and one more
    std::vector<std::uint32_t> strongest;
    std::vector<std::uint32_t> found;
    std::vector<float> scaled;  // one sample
    std::vector<Cooccurring> list;
  };
  Scratch make_scratch() const;
  // At most, when all labels have been asked about.
  static double bytes_of(double labels, double features, double wanted);
  static double scratch_bytes_of(double features);

  // Appends to `out` up to `wanted` features that are not in the sum s of a label's samples, in no order:
  // those of the largest sum of |s[t]| times the co-occurring feature's over the strongest features t of s,
  // of each as many co-occurring features as are taken.
  void find(const LabelSums::Sum& sum, Scratch& scratch, std::vector<std::uint32_t>& out) const;

 private:
  static constexpr std::size_t kBlock = std::size_t{1}
                                        << 16;  // co-occurring features that memory is asked for at once

  // Strongest first, in front of them one that has their number as its feature.
  const Cooccurring* cooccurring(std::uint32_t feature, Scratch& scratch) const;
  void make_list(std::uint32_t feature, Scratch& scratch) const;
  const Cooccurring* keep(const std::vector<Cooccurring>& list) const;

  const Dataset& train_;
  const FeatureScale& scale_;
  std::size_t wanted_;
  std::vector<std::uint32_t> samples_;                               // [feature][kSamples]
  std::vector<std::uint8_t> counts_;                                 // by feature: samples it has there
  mutable std::vector<std::atomic<const Cooccurring*>> by_feature_;  // nullptr: not asked for
  mutable std::mutex mutex_;                                         // of what follows
  mutable std::vector<std::unique_ptr<Cooccurring[]>> blocks_;
  mutable std::size_t free_ = 0;        // at the end of the last block,
  mutable Cooccurring* end_ = nullptr;  // which is here
};

}  // namespace slide

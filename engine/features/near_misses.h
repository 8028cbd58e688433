// Features that may speak against a label: those of training samples that look like its own and do not carry
// it. The features of a label's own samples cannot say what it is told from (an item that was seen before is
// seldom wanted again; a word that only its neighbours use). The nodes of a label tree learn that from the
// samples that reach them.
//
// A sample has the features that it names, also those of value 0.
//
// Immutable, safe from any thread; one Scratch a thread. The data set and the scale must outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/dataset.h"
#include "engine/features/feature_scale.h"
#include "engine/features/label_sums.h"

namespace slide {

class NearMisses {
 public:
  static constexpr std::size_t kStrongest = 16;  // features of a label whose samples are looked at,
  static constexpr std::size_t kSamples = 8;     // so many of each, spread evenly over the data

  // Of the samples of `train` as `scale` makes them.
  NearMisses(const Dataset& train, const FeatureScale& scale);

  struct Scratch {
    std::vector<float> likeness;     // by feature, zero between calls
    std::vector<std::uint32_t> ids;  // room for all features with a likeness and one more
    std::vector<std::uint32_t> strongest;
    std::vector<float> scaled;  // one sample
  };
  Scratch make_scratch() const;

  // Appends to `out` up to `wanted` features that none of the label's samples has, in no order: those of the
  // largest sum of |s[t] x[t] x[f]| over the strongest features t of the label's sum s and the samples x
  // looked at that have t but not the label.
  void find(std::uint32_t label, const LabelSums::Sum& sum, std::size_t wanted, Scratch& scratch,
            std::vector<std::uint32_t>& out) const;

 private:
  const Dataset& train_;
  const FeatureScale& scale_;
  std::vector<std::uint32_t> samples_;  // [feature][kSamples]
  std::vector<std::uint8_t> counts_;    // by feature: samples it has there
};

}  // namespace slide

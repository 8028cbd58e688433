// Features that may speak against a label: those of training samples that look like its own and do not carry
// it. The features of a label's own samples cannot say what it is told from (an item that was seen before is
// seldom wanted again; a word that only its neighbours use). The nodes of a label tree learn that from the
// samples that reach them.
//
// What comes with a feature is found once, and kept as a list; a label looks into the lists of its strongest
// features, so that its cost does not grow with the length of samples.
//
// A sample has the features that it names, also those of value 0.
//
// Immutable, safe from any thread; one Scratch a thread.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/dataset.h"
#include "engine/features/feature_scale.h"
#include "engine/features/label_sums.h"

namespace slide {

class NearMisses {
 public:
  static constexpr std::size_t kStrongest = 16;  // features of a label whose companions are looked at
  static constexpr std::size_t kSamples = 8;     // of each feature, spread evenly over the data
  static constexpr std::size_t kListed = 4;      // companions of a feature that are kept,
  static constexpr std::size_t kTaken = 1;  // and that a label takes from one list, as multiples of `wanted`

  // Of the samples of `train` as `scale` makes them; each label wants up to `wanted` features. The companions
  // of feature t are the features f of the largest sum of |x[t] x[f]| over the samples x that are looked at,
  // of a feature that several samples have.
  NearMisses(const Dataset& train, const FeatureScale& scale, std::size_t wanted, int threads);

  struct Scratch {
    std::vector<float> likeness;     // by feature, zero between calls
    std::vector<std::uint32_t> ids;  // room for all features with a likeness and one more
    std::vector<std::uint32_t> strongest;
  };
  Scratch make_scratch() const;

  // Appends to `out` up to `wanted` features that are not in the sum s of a label's samples, in no order:
  // those of the largest sum of |s[t]| times the companion's over the strongest features t of s, of each as
  // many companions as are taken.
  void find(const LabelSums::Sum& sum, Scratch& scratch, std::vector<std::uint32_t>& out) const;

 private:
  struct Companion {
    std::uint32_t feature;
    float weight;
  };
  class Finder;

  std::size_t wanted_;
  std::vector<std::uint64_t> offsets_;  // by feature
  std::vector<Companion> companions_;   // strongest first
};

}  // namespace slide

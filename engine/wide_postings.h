// The wide path at inference: its weights by feature.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/block_features.h"
#include "engine/wide_path.h"

namespace slide {

// The wide weights by feature: scores the neurons that a sample's own features speak for, without looking at
// the others. Immutable; one Scratch or Walk a thread.
class WidePostings {
 public:
  // find() leaves out features that are in the pattern of more neurons than this: they say little.
  static constexpr std::size_t kMostPostings = 1024;

  WidePostings(const WidePath& wide, std::size_t neurons, std::size_t features);

  // For full inference: all neurons in ascending order, a range at a time. start() begins with the block's
  // features; each add() then takes the neurons from where the last one ended up to `end`, and does
  // z[(n - first)*lanes + s] += the wide score of neuron n for sample s. The block's features must not change
  // in between.
  struct Walk {
    struct Feature {
      std::uint64_t at, end;  // its postings still to come
      std::uint32_t place;    // in the block: of its dense column, or of its list
      std::uint32_t length;   // entries of its list; 0: dense
    };
    std::vector<Feature> features;  // as the block counts them
  };
  void start(const BlockFeatures& features, Walk& walk) const;
  void add(const BlockFeatures& features, std::size_t first, std::size_t end, std::size_t lanes, float* z,
           Walk& walk) const;

  // z[n] += the wide score of every neuron n, for one sample.
  void add(const SparseRow& row, float* z) const;

  struct Scratch {
    std::vector<float> scores;           // by neuron, all zero between calls
    std::vector<std::uint32_t> touched;  // neurons of this sample
  };
  Scratch make_scratch() const;

  // Appends to `out` the `wanted` neurons of the largest wide score for one sample, in no order.
  void find(const SparseRow& row, std::size_t wanted, Scratch& scratch,
            std::vector<std::uint32_t>& out) const;

  std::size_t bytes() const;

 private:
  std::size_t neuron_count_;
  std::vector<std::uint64_t> offsets_;  // by feature
  AlignedArray<std::uint32_t> neurons_;  // of the postings, ascending for each feature
  AlignedArray<float> weights_;
};

}  // namespace slide

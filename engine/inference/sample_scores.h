// Exact scores of a few output neurons for one sample, after bounds have excluded all others. A score depends
// bitwise only on the sample and the neuron.
//
// Immutable, safe from any thread with one Scratch per thread. Refers to the layer, which must not change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/network/layer.h"

namespace slide {

class SampleScores {
 public:
  // For an output layer above a hidden layer, over `features` features.
  SampleScores(const Layer& output, std::size_t features) : output_(output), features_(features) {}

  struct Scratch {
    AlignedArray<float> by_feature;  // of the sample; zero between samples
    BlockInput in;                   // of the single sample
    SparseRow row;
    std::vector<std::uint32_t> ids;  // a tile of ids
    std::vector<float> z, weights;
  };
  Scratch make_scratch() const;

  // Begins with sample s of a block, whose features are `row`; call end() when done.
  void begin(const BlockInput& in, std::size_t s, const SparseRow& row, Scratch& scratch) const;
  // z[i] = score of neuron ids[i]. `layer` is the scratch of the output layer.
  void score(std::span<const std::uint32_t> ids, LayerScratch& layer, Scratch& scratch, float* z) const;
  void end(Scratch& scratch) const;

 private:
  void score_some(std::span<const std::uint32_t> ids, LayerScratch& layer, Scratch& scratch, float* z) const;

  const Layer& output_;
  std::size_t features_;
};

}  // namespace slide

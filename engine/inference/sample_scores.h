// Exact scores of a few output neurons for one sample: what is left where bounds have told that all others
// are not among its best. A score depends on the sample and the neuron alone, to the bit.
//
// Immutable, and safe to use from any thread with a Scratch each; refers to the layer, which must not change
// meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/network/layer.h"

namespace slide {

class SampleScores {
 public:
  // Of an output layer above a hidden one, over `features` features.
  SampleScores(const Layer& output, std::size_t features) : output_(output), features_(features) {}

  struct Scratch {
    AlignedArray<float> by_feature;  // of the sample; zero between samples
    BlockInput in;                   // of the sample alone
    SparseRow row;
    std::vector<std::uint32_t> ids;  // as many as are scored at once
    std::vector<float> z, weights;
  };
  Scratch make_scratch() const;

  // Begins with sample s of a block, whose features are `row`; end() has to follow.
  void begin(const BlockInput& in, std::size_t s, const SparseRow& row, Scratch& scratch) const;
  // z[i] = the score of neuron ids[i]. `layer` is the output layer's.
  void score(std::span<const std::uint32_t> ids, LayerScratch& layer, Scratch& scratch, float* z) const;
  void end(Scratch& scratch) const;

 private:
  void score_some(std::span<const std::uint32_t> ids, LayerScratch& layer, Scratch& scratch, float* z) const;

  const Layer& output_;
  std::size_t features_;
};

}  // namespace slide

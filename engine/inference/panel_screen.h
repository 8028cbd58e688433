// The best labels of many samples, soon: all output neurons are scored roughly, from weights and activations
// rounded to bfloat16, and those that could be among the best are told apart by exact scores. It pays where
// the processor multiplies bfloat16 faster than floats (kernels::KernelSet::fast_bf16).
//
// A rough score is wrong by no more than the lengths of the rounding errors times those of what they are
// multiplied by, so no label of the best is missed. Rows are rounded as they are met, a few hundred for all
// the samples of a panel: there is no copy of the weights.
//
// Immutable, and safe to use from any thread with a Scratch each; refers to the layer, which must not change
// meanwhile. For a sample alone there is screen.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/network/layer.h"

namespace slide {

class PanelScreen {
 public:
  // Of an output layer above a hidden one, with weights in fp32.
  PanelScreen(const Layer& output, int threads);

  // Whether there is a bound on the errors: all weights are finite.
  bool bounded() const;

  struct Scratch {
    AlignedArray<std::uint32_t> rows;    // rounded, of the neurons scored at once
    std::vector<std::uint32_t> numbers;  // 0, 1, 2, ... for them
    std::vector<float> shift;            // their biases
    std::vector<float> errors;           // by sample of the panel: what a rough score may be wrong by
    AlignedArray<std::uint32_t> row;     // of one neuron, rounded
    AlignedArray<float> x;               // of one sample: rounded activations, with zeros behind them
  };
  // For panels of up to `samples` samples, `neurons` scored at once.
  Scratch make_scratch(std::size_t neurons, std::size_t samples) const;

  // Begins a block, whose first sample is number `first` of the panel. False where rough scores would say
  // nothing: activations are not finite, or exact scores might not be.
  bool begin_block(const BlockInput& in, std::size_t first, Scratch& scratch) const;

  // What the rough score of sample i of the panel may be wrong by, at most.
  float error(std::size_t i, const Scratch& scratch) const { return scratch.errors[i]; }

  // z as of Layer::score() without features, roughly, for `ids`, of which there are no more than `neurons`.
  void score(std::span<const BlockInput> blocks, std::span<const std::uint32_t> ids, Scratch& scratch,
             float* z) const;

  // What a rough score of neuron `id` for sample s of a block lacks to be exact; select_sample() comes first.
  void select_sample(const BlockInput& in, std::size_t s, Scratch& scratch) const;
  float correction(const BlockInput& in, std::size_t s, std::uint32_t id, Scratch& scratch) const;

 private:
  const Layer& output_;
  std::size_t stride_;         // words of a row
  double worst_error_ = 0.0;   // length of the largest row of rounding errors
  double worst_length_ = 0.0;  // of a row
};

}  // namespace slide

// Rough scores of all output neurons for many samples, and what they may be wrong by: from weights and
// activations rounded to bytes or to bfloat16, where the processor multiplies these faster than floats
// (kernels::KernelSet), else from the weights themselves.
//
// A rough score is wrong by no more than the lengths of the rounding errors times those of what they are
// multiplied by, so no label of the best is missed. Rows are rounded as they are met, a few hundred for all
// the samples of a batch: there is no copy of the weights.
//
// Immutable, and safe to use from any thread with a Scratch each; refers to the layer, which must not change
// meanwhile. For a sample alone there is sample_bounds.h.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/network/layer.h"

namespace slide {

class BatchBounds {
 public:
  enum class Form { kFloat, kBf16, kInt8 };  // of the products

  // What this processor is fastest with for such weights.
  static Form fastest(const Parameters& weights);

  // Of an output layer above a hidden one; kBf16 is for weights in fp32. What scores may be wrong by is
  // known for each `group` of neurons.
  BatchBounds(const Layer& output, Form form, std::size_t group, int threads);

  // Whether there is a bound on the errors: all weights are finite.
  bool bounded() const;

  struct Scratch {
    // Of the neurons scored at once:
    std::size_t first = 0, count = 0;
    AlignedArray<std::uint32_t> pairs;       // rounded
    AlignedArray<std::int8_t> q, exponents;  // or so
    std::vector<std::int32_t> starts;        // what makes up for 128 in all bytes of a sample
    std::vector<std::uint32_t> numbers;      // 0, 1, 2, ...
    std::vector<float> shift;                // their biases
    std::vector<float> row, error;           // of one neuron or sample
    // By sample of the batch:
    std::vector<float> lengths, error_lengths;  // of the activations, of their rounding errors
    AlignedArray<std::uint32_t> words;          // rounded to bytes, [columns / 4 x lanes] of each block
    AlignedArray<float> steps;
    std::vector<bool> is_signed;  // whether its block has activations below 0
  };
  // For batches of up to `samples` samples, `neurons` scored at once.
  Scratch make_scratch(std::size_t neurons, std::size_t samples) const;

  // Begins a block, whose first sample is number `first` of the batch. False where rough scores would say
  // nothing: activations are not finite, or exact scores might not be.
  bool begin_block(const BlockInput& in, std::size_t first, Scratch& scratch) const;

  // Makes ready the neurons [first, first + count).
  void load(std::size_t first, std::size_t count, Scratch& scratch) const;
  // z as of Layer::score() without features, roughly, of the neurons loaded; `first` as in begin_block().
  void score(const BlockInput& in, std::size_t first, LayerScratch& layer, Scratch& scratch, float* z) const;

  // What the rough scores of a group of neurons may be wrong by for sample i of the batch, at most.
  float error(std::size_t group, std::size_t i, const Scratch& scratch) const {
    return errors_[group] * scratch.lengths[i] + lengths_[group] * scratch.error_lengths[i];
  }

 private:
  std::size_t columns() const { return output_.inputs(); }
  void measure_rows(std::size_t first, std::size_t end, float& error, float& length) const;
  void round_sample(const float* x, bool below_zero, std::size_t s, std::size_t i, std::size_t lanes,
                    Scratch& scratch) const;

  const Layer& output_;
  Form form_;
  std::size_t stride_;  // columns of a rounded row
  // By group: of the longest row of rounding errors, those of float sums included, and of the longest rounded
  // row.
  std::vector<float> errors_, lengths_;
  double longest_ = 0.0;
};

}  // namespace slide

// Approximate scores of a list of output neurons for a prediction batch, with error bounds. Weights and
// activations are rounded to int8 or bfloat16 where the processor multiplies these faster than floats
// (kernels::KernelSet); else the float weights are used.
//
// Error bound, by the Cauchy-Schwarz inequality: |w.x - w'.x'| <= |w - w'| |x| + |w'| |x - x'|. Thus no label
// of the exact top k is lost. Rounded copies of the first rows of the list are kept; others are rounded on
// the fly, a few hundred for all samples of a batch.
//
// Immutable, safe from any thread with one Scratch per thread. Refers to the layer, which must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/network/layer.h"

namespace slide {

class BatchBounds {
 public:
  enum class Form { kFloat, kBf16, kInt8 };  // of the products

  // The fastest form for the weights of `output` on this processor.
  static Form fastest(const Layer& output);

  // For the neurons `ids` (must outlive this object) of an output layer above a hidden layer;
  // kBf16 requires fp32 weights. Methods below number the neurons 0, 1, ... in this order. Rounded rows of
  // the first `kept` neurons are kept. Error bounds are stored per `group` of neurons.
  BatchBounds(const Layer& output, std::span<const std::uint32_t> ids, std::size_t kept, Form form,
              std::size_t group, int threads);

  // Whether errors are bounded: all weights are finite, and sums of int8 products do not overflow.
  bool bounded() const;
  std::size_t bytes() const;
  // At most, of some neurons above `inputs` units.
  static double bytes_of(std::size_t neurons, std::size_t kept, std::size_t inputs, std::size_t group);

  // Rows of some neurons, rounded.
  struct RoundedRows {
    AlignedArray<std::uint32_t> pairs;       // kBf16: [rows x stride / 2], two columns each
    AlignedArray<std::int8_t> q, exponents;  // kInt8: [rows x stride], and a power of two per row
    std::vector<std::int32_t> corrections;   // kInt8: for the offset 128 of unsigned activations
    std::vector<float> biases;               // the neurons' biases
  };

  struct Scratch {
    // Of the loaded neurons:
    std::size_t first = 0, count = 0;
    RoundedRows rows;                    // where no copies are kept
    std::vector<std::uint32_t> numbers;  // 0, 1, 2, ...
    std::vector<float> row, error;       // of one neuron or one sample
    // One element per sample of the batch:
    std::vector<float> lengths, error_lengths;  // lengths of the activations and of their rounding errors
    AlignedArray<std::uint32_t> words;  // activations rounded to bytes, [columns / 4 x lanes] per block
    AlignedArray<float> steps;          // activation = step * (byte - offset)
    std::vector<bool> is_signed;        // whether its block has negative activations
  };
  // For batches of up to `samples` samples and up to `neurons` loaded neurons.
  Scratch make_scratch(std::size_t neurons, std::size_t samples) const;

  // Begins a block whose first sample is number `first` of the batch.
  void begin_block(const BlockInput& in, std::size_t first, Scratch& scratch) const;
  // Whether approximate scores of sample i of the batch have a use: activations, and all possible exact
  // scores, are finite.
  bool bounds(std::size_t i, const Scratch& scratch) const {
    return 2 * longest_ * double{scratch.lengths[i]} < kMaxScore;
  }

  // Loads the neurons [first, first + count): rows of all of them or of none are kept.
  void load(std::size_t first, std::size_t count, Scratch& scratch) const;
  // Computes approximate z, as Layer::score() without features, for the loaded neurons; `first` as in
  // begin_block().
  void score(const BlockInput& in, std::size_t first, LayerScratch& layer, Scratch& scratch, float* z) const;

  // Upper bounds over some groups: a score is at most length * length of the activations + bias.
  struct Reach {
    float length = 0.0F, bias = 0.0F;
  };
  Reach reach(std::size_t first_group, std::size_t groups) const;

  // Error bound of the approximate scores of a group of neurons for sample i of the batch.
  float error(std::size_t group, std::size_t i, const Scratch& scratch) const {
    return errors_[group] * scratch.lengths[i] + lengths_[group] * scratch.error_lengths[i];
  }

 private:
  static constexpr double kMaxScore = 0x1p126;  // larger scores may overflow

  std::size_t columns() const { return output_.inputs(); }
  RoundedRows make_rows(std::size_t count) const;
  void round_row(std::size_t neuron, std::size_t place, RoundedRows& rows, std::vector<float>& row) const;
  std::int32_t correction_of(std::size_t place, const RoundedRows& rows) const;
  void measure_rows(std::size_t first, std::size_t end, float& error, float& length) const;
  void round_sample(const float* x, bool below_zero, std::size_t s, std::size_t i, std::size_t lanes,
                    Scratch& scratch) const;

  const Layer& output_;
  std::span<const std::uint32_t> ids_;
  Form form_;
  std::size_t stride_;  // columns of a rounded row
  RoundedRows kept_;    // of the first neurons
  std::size_t kept_rows_;
  // Per group of neurons: max length of the rounding errors of a row (errors of float sums included), and max
  // length of a rounded row.
  std::vector<float> errors_, lengths_;
  std::vector<float> biases_;  // the largest, by group
  double longest_ = 0.0;
};

}  // namespace slide

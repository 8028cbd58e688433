// A layer stored by neuron: each neuron's incoming weights are one row. Dense layers compute every neuron;
// sampled ones an active set for each block, chosen through the layer's hash tables and by chance.
//
// Here are its parameters and what reads them: the passes of a block, forward and back to the layer's inputs,
// are const and may run on slices of many blocks at once. What a step changes, and what it remembers, is the
// business of LayerTraining (layer_training.h). Rehash and rebuild run alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/active_set.h"
#include "engine/network/block.h"
#include "engine/network/network_shape.h"
#include "engine/network/output_term.h"
#include "engine/network/parameters.h"
#include "lsh/neuron_index.h"

namespace slide {

// Working memory of one thread in one layer.
struct LayerScratch {
  SamplerScratch sampler;
  std::vector<float> shift;    // bias + correction of the active neurons
  AlignedArray<float> packed;  // fp32 rows of the matrix: of bfloat16 ones, or a block's columns of any
  std::size_t packed_stride = 0;
  AlignedArray<std::uint32_t> pairs;  // bfloat16 rows of a matrix of bytes
  AlignedArray<float> rounded;        // the input of a sample alone before such a matrix
  TermHits hits;                      // of inference
  TermScratch term;
  AlignedArray<float> query;  // [inputs x lanes] partial inputs spread out for the hash functions
};

class Layer {
 public:
  // `frequencies` of the neurons as labels, the first of which is label `first`; empty for hidden layers.
  Layer(const LayerShape& shape, std::span<const std::uint32_t> frequencies, std::size_t first = 0);

  // Random weights times init_scale, zero biases. Weights all 0 suit an output layer alone: neurons of a
  // hidden layer would keep identical neurons.
  void initialise(std::uint64_t seed, std::uint64_t item, int threads);
  // Builds the hash tables of every part from the weights (sampled layers with an LSH source). Generation g
  // draws the functions of (seed, g).
  void rebuild_index(std::uint64_t seed, std::uint64_t generation, int threads);
  // Files rows of a part again that have changed, ascending, by their number in it; without tables nothing
  // happens.
  void rehash(std::size_t part, std::span<const std::uint32_t> rows, int threads);

  // The term added to the logits of an output layer; nullptr without one.
  void set_term(std::unique_ptr<OutputTerm> term) { term_ = std::move(term); }
  const OutputTerm* term() const { return term_.get(); }
  OutputTerm* term() { return term_.get(); }

  bool sampled() const { return shape_.sampled(); }
  std::size_t size() const { return weights_.rows; }
  std::size_t inputs() const { return weights_.columns; }
  bool output() const { return shape_.output; }
  const LayerConfig& config() const { return shape_.config; }
  // Parts that choose active neurons for themselves: one, or of an output layer those of the process.
  std::size_t parts() const { return parts_.size(); }
  bool split() const { return shape_.parts.front().of > 1; }
  Slice neurons(std::size_t part) const { return shape_.parts[part].neurons; }
  // Number of this one among all parts, here or elsewhere.
  std::uint32_t number_of(std::size_t part) const { return shape_.parts[part].number; }
  const lsh::NeuronIndex* index(std::size_t part = 0) const { return parts_[part].index.get(); }
  lsh::NeuronIndex* index(std::size_t part = 0) { return parts_[part].index.get(); }
  std::span<const std::uint32_t> all_neurons() const { return {identity_.data(), size()}; }

  const LayerShape& shape() const { return shape_; }
  std::size_t active_limit(const BlockLimits& limits) const { return shape_.active_limit(limits); }
  void reserve(LayerBlock& block, const BlockLimits& limits, std::uint32_t shards) const;
  enum class Use { kPasses, kSelect, kBoth };  // of scratch memory: select() needs some for each neuron
  LayerScratch make_scratch(const BlockLimits& limits, Use use = Use::kBoth) const;

  // Bytes of a layer of that shape beside its matrices, tables and term; of reserve(); of
  // make_scratch().
  static double bytes_of(const LayerShape& shape);
  static double block_bytes_of(const LayerShape& shape, const BlockLimits& limits, std::uint32_t shards);
  static double scratch_bytes_of(const LayerShape& shape, const BlockLimits& limits, Use use = Use::kBoth);

  // What a block asks for active neurons with.
  struct Query {
    std::span<const SparseRow> sparse;                       // features of the samples: for a first layer
    std::span<const std::span<const std::uint32_t>> labels;  // one a sample; none for hidden layers
    std::span<const std::span<const std::uint32_t>> left_out = {};  // of each sample, or of none
  };
  // Chooses the block's active set of a part (in a dense layer: all).
  void select(std::size_t part, const BlockInput& in, const Query& query, Rng rng, LayerScratch& scratch,
              LayerBlock& block) const;
  // Of a run of slices of the active neurons: block.out_t [count x lanes] = f(bias + w * x) for hidden
  // layers; for the output the logits, with the active set's corrections added. Different runs may go on at
  // once.
  void forward(const BlockInput& in, Slice slices, LayerScratch& scratch, LayerBlock& block) const;
  // z [count x lanes] = bias + w * x for the neurons `active`, no activation: inference. One such matrix
  // after the other for several blocks, which share the rows' way from memory. Without in.features the term
  // of a block is left out.
  void score(std::span<const BlockInput> blocks, std::span<const std::uint32_t> active, LayerScratch& scratch,
             float* z) const;
  // Hidden layer with all its neurons active, whatever its kind: inference.
  void forward_all(const BlockInput& in, LayerScratch& scratch, LayerBlock& block) const;
  // dx [lanes x ldx] = gradient into some of the input units of this block, from `delta_t` [count x lanes].
  // Of block.sparse, where it is in use, only what it lists is looked at; else the samples are all lanes.
  void backward_input(const BlockInput& in, const SliceCell& cell, const float* delta_t,
                      LayerScratch& scratch, const LayerBlock& block, float* dx, std::size_t ldx) const;
  // Hidden layer: takes block.delta of some of its active neurons through the activation, to block.delta_t.
  void backward_activation(std::size_t lanes, const SliceCell& cell, LayerBlock& block) const;

  Parameters& weights() { return weights_; }
  const Parameters& weights() const { return weights_; }
  lsh::WeightRows weight_rows(std::size_t first = 0) const;  // those from a row on, for hashing
  Parameters& bias() { return bias_; }
  const Parameters& bias() const { return bias_; }

 private:
  struct Part {
    ActiveSampler sampler;
    std::unique_ptr<lsh::NeuronIndex> index;
  };
  const std::uint32_t* ids(const LayerBlock& block) const {
    return sampled() ? block.set.ids.data() : identity_.data() + block.first;
  }
  // z [active x lanes] = scratch.shift + w * x; before bfloat16 weights, x is rounded, but where it is
  // partial
  void logits(const BlockInput& in, std::span<const std::uint32_t> active, LayerScratch& scratch,
              float* z) const;
  // The same of a matrix of bytes, for all inputs; `shift` and z begin with row ids[0].
  void logits_int8(const BlockInput& in, std::span<const std::uint32_t> ids, LayerScratch& scratch,
                   float* z) const;
  void backward_listed(const BlockInput& in, const SliceCell& cell, LayerScratch& scratch,
                       const LayerBlock& block, float* dx, std::size_t ldx) const;
  void finish_hidden(const BlockInput& in, Slice neurons, LayerBlock& block) const;
  lsh::QueryBlock spread(const BlockInput& in, LayerScratch& scratch) const;
  void pack(const BlockInput& in, Slice units, const std::uint32_t* ids, std::size_t count,
            LayerScratch& scratch) const;

  LayerShape shape_;
  Parameters weights_;  // [neurons x inputs]
  Parameters bias_;     // [neurons x 1]
  std::vector<Part> parts_;
  std::unique_ptr<OutputTerm> term_;
  std::vector<std::uint32_t> identity_;  // 0, 1, 2, ... for all neurons and packed rows
};

}  // namespace slide

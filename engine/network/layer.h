// A layer stored by neuron: one row of incoming weights per neuron. A dense layer computes every neuron; a
// sampled layer computes an active set for each block, from hash tables and negative samplers.
//
// Layer holds the parameters and computes forward and backward passes. LayerTraining (layer_training.h) holds
// the state of training. Thread safety: const functions may run on tiles of many blocks at the same time,
// with one scratch per thread; call other functions from one thread at a time.
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
  std::vector<float> shift;    // bias + logQ correction of the active neurons
  AlignedArray<float> packed;  // weight rows in fp32, copied from bfloat16 or from the columns a block uses
  std::size_t packed_stride = 0;
  AlignedArray<std::uint32_t> pairs;  // rows of an int8 matrix in bfloat16
  AlignedArray<float> rounded;        // input of a single sample, rounded to bfloat16, for an int8 matrix
  TermHits hits;                      // of inference
  TermScratch term;
  AlignedArray<float> query;  // [inputs x lanes] partial input as dense vectors, for the hash functions
};

class Layer {
 public:
  // frequencies[n]: training samples with the label of neuron n, which is label first + n; empty for hidden
  // layers.
  Layer(const LayerShape& shape, std::span<const std::uint32_t> frequencies, std::size_t first = 0);

  // Random weights times init_scale, zero biases. `item` numbers the random stream. init_scale 0 suits the
  // output layer only: hidden neurons with equal weights stay equal.
  void initialise(std::uint64_t seed, std::uint64_t item, int threads);
  // Builds the hash tables of every part from the weights (sampled layers with an LSH source). Generation g
  // draws the functions of (seed, g).
  void rebuild_index(std::uint64_t seed, std::uint64_t generation, int threads);
  // Moves changed rows of a part to their new buckets. `rows`: ascending, counted from the part's first
  // neuron. No effect without tables.
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
  // Number of parts, each with its own active set: one, or the parts of the output layer that this process
  // holds (network_parts.h).
  std::size_t parts() const { return parts_.size(); }
  bool split() const { return shape_.parts.front().of > 1; }
  Slice neurons(std::size_t part) const { return shape_.parts[part].neurons; }
  // Number of a part, counted over all processes.
  std::uint32_t number_of(std::size_t part) const { return shape_.parts[part].number; }
  const lsh::NeuronIndex* index(std::size_t part = 0) const { return parts_[part].index.get(); }
  lsh::NeuronIndex* index(std::size_t part = 0) { return parts_[part].index.get(); }
  std::span<const std::uint32_t> all_neurons() const { return {identity_.data(), size()}; }

  const LayerShape& shape() const { return shape_; }
  std::size_t active_limit(const BlockLimits& limits) const { return shape_.active_limit(limits); }
  void reserve(LayerBlock& block, const BlockLimits& limits, std::uint32_t shards) const;
  // Functions that a scratch is for; select() needs memory for each neuron of the layer.
  enum class Use { kPasses, kSelect, kBoth };
  LayerScratch make_scratch(const BlockLimits& limits, Use use = Use::kBoth) const;

  // Memory in bytes: of a layer without matrices, tables and term; of reserve(); of make_scratch().
  static double bytes_of(const LayerShape& shape);
  static double block_bytes_of(const LayerShape& shape, const BlockLimits& limits, std::uint32_t shards);
  static double scratch_bytes_of(const LayerShape& shape, const BlockLimits& limits, Use use = Use::kBoth);

  // The samples of a block, as select() needs them.
  struct Query {
    std::span<const SparseRow> sparse;                            // features by sample, for a first layer
    std::span<const std::span<const std::uint32_t>> labels;       // by sample; empty for hidden layers
    std::span<const std::span<const std::uint32_t>> masked = {};  // masked labels by sample, or empty
  };
  // Sets block.set and block.count: the active neurons of a part (in a dense layer: all).
  void select(std::size_t part, const BlockInput& in, const Query& query, Rng rng, LayerScratch& scratch,
              LayerBlock& block) const;
  // block.out_t [active x lanes] = f(bias + W x) for a range of slices of the active neurons of a hidden
  // layer; bias + W x + logQ correction + term for the output layer. Different ranges may run at the same
  // time.
  void forward(const BlockInput& in, Slice slices, LayerScratch& scratch, LayerBlock& block) const;
  // Inference: z [blocks x active x lanes] = bias + W x + term for the neurons `active`, no activation.
  // Several blocks in one call read each weight row from memory once. A block without in.features gets no
  // term.
  void score(std::span<const BlockInput> blocks, std::span<const std::uint32_t> active, LayerScratch& scratch,
             float* z) const;
  // Hidden layer with all its neurons active, whatever its kind: inference.
  void forward_all(const BlockInput& in, LayerScratch& scratch, LayerBlock& block) const;
  // dx [lanes x ldx] = W^T delta for the units and samples of `cell`, from the gradients delta_t [active x
  // lanes], or from block.sparse where that is in use; without it, cell.samples are all lanes.
  void backward_input(const BlockInput& in, const SliceCell& cell, const float* delta_t,
                      LayerScratch& scratch, const LayerBlock& block, float* dx, std::size_t ldx) const;
  // Hidden layer: block.delta_t [active x lanes] = block.delta [lanes x active] times the derivative of the
  // activation, for the neurons and samples of `cell`.
  void backward_activation(std::size_t lanes, const SliceCell& cell, LayerBlock& block) const;

  Parameters& weights() { return weights_; }
  const Parameters& weights() const { return weights_; }
  lsh::WeightRows weight_rows(std::size_t first = 0) const;  // rows from `first` on, for hashing
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
  // z [active x lanes] = scratch.shift + W x. x is rounded to bfloat16 for bfloat16 weights, unless partial.
  void logits(const BlockInput& in, std::span<const std::uint32_t> active, LayerScratch& scratch,
              float* z) const;
  // The same for int8 weights and an input that is not partial.
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

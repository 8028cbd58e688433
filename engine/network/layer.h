// A layer stored by neuron: each neuron's incoming weights are one row. Dense layers compute every neuron;
// sampled ones an active set for each block, chosen through the layer's hash tables and by chance.
//
// The gradient of the output layer and of every hidden layer after the first comes through here. forward()
// and backward_input() are const and may run on many blocks at once; update() on different shards; rehash and
// rebuild alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/active_set.h"
#include "engine/network/block.h"
#include "engine/network/optimizer.h"
#include "engine/network/parameters.h"
#include "engine/wide/wide_path.h"
#include "lsh/neuron_index.h"
#include "lsh/stale_rows.h"

namespace slide {

// Working memory of one thread in one layer.
struct LayerScratch {
  SamplerScratch sampler;
  std::vector<float> shift;    // bias + correction of the active neurons
  AlignedArray<float> packed;  // fp32 rows of the matrix: of bfloat16 ones, or a block's columns of any
  std::size_t packed_stride = 0;
  WideHits hits;              // of inference
  AlignedArray<float> query;  // [inputs x lanes] partial inputs spread out for the hash functions
};

// Working memory of one shard in one layer's update.
struct UpdateScratch {
  struct Part {  // what one block adds to the gradient of one of the rows updated together
    const float* delta;
    std::uint32_t block, row;
  };
  AlignedArray<float> gradient;  // [rows updated together x stride]
  std::size_t stride = 0;
  std::vector<float> bias_gradient;
  std::vector<Part> parts;
  std::vector<std::uint32_t> ends;  // of the blocks in the two below
  std::vector<const float*> deltas;
  std::vector<float*> gradients;
  PackedRow packed;
  std::vector<float> wide_gradients;
  std::vector<std::uint32_t> sources;  // of a dense row: its place in every block
};

// The largest block a layer must be ready for.
struct BlockLimits {
  std::size_t lanes = 0;
  std::size_t columns = 0;        // units of the layer's input in one block, 0 = all
  bool features = false;          // the input is the data itself
  std::size_t label_entries = 0;  // labels of a block's samples, with repeats
  bool sparse_deltas = false;     // of an output layer
};

class Layer {
 public:
  // `frequencies` of the neurons as labels; empty for hidden layers.
  Layer(const LayerConfig& config, std::size_t inputs, std::size_t neurons, bool output, OptimizerKind kind,
        Precision precision, std::span<const std::uint32_t> frequencies);

  void initialise(std::uint64_t seed, std::uint64_t item, int threads);
  // Builds the hash tables from the weights (sampled layers with an LSH source). Generation g draws the
  // functions of (seed, g).
  void rebuild_index(std::uint64_t seed, std::uint64_t generation, int threads);
  // Files changed rows again, those that wait longest first: as many as hash.rehash_share of the row updates
  // since the last rehash, so that the cost is the steps' and not the layer's.
  void rehash(int threads);

  // Everything that later steps depend on: weights, optimizer state, tables, rows that wait for a rehash.
  // load() needs a layer that is ready to train.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  // The wide path, where there is one.
  void set_wide(std::unique_ptr<WidePath> wide) { wide_ = std::move(wide); }
  const WidePath* wide() const { return wide_.get(); }
  WidePath* wide() { return wide_.get(); }

  bool sampled() const { return config_.kind == LayerKind::kSampled; }
  std::size_t size() const { return weights_.rows; }
  std::size_t inputs() const { return weights_.columns; }
  const LayerConfig& config() const { return config_; }
  const lsh::NeuronIndex* index() const { return index_.get(); }
  std::span<const std::uint32_t> all_neurons() const { return {identity_.data(), size()}; }

  // Most neurons active in one block of these limits.
  std::size_t active_limit(const BlockLimits& limits) const;
  void reserve(LayerBlock& block, const BlockLimits& limits, std::uint32_t shards) const;
  LayerScratch make_scratch(const BlockLimits& limits) const;
  UpdateScratch make_update_scratch(const BlockLimits& limits, std::size_t blocks) const;
  void prepare_updates(std::uint32_t shards, const BlockLimits& limits);

  // Chooses the block's active set (in a dense layer: all). `sparse` are the samples' features: the query of
  // a first layer.
  void select(const BlockInput& in, std::span<const SparseRow> sparse,
              std::span<const std::span<const std::uint32_t>> labels, Rng rng, LayerScratch& scratch,
              LayerBlock& block) const;
  // block.out_t [count x lanes] = f(bias + w * x) for hidden layers; for the output the logits, with the
  // active set's corrections added when `corrected`.
  void forward(const BlockInput& in, bool corrected, LayerScratch& scratch, LayerBlock& block) const;
  // z [count x lanes] = bias + w * x for the neurons `active`, no activation: inference. One such matrix
  // after the other for several blocks, which share the rows' way from memory. Without in.features the wide
  // path of a block is left out.
  void score(std::span<const BlockInput> blocks, std::span<const std::uint32_t> active, LayerScratch& scratch,
             float* z) const;
  // Hidden layer with all its neurons active, whatever its kind: inference.
  void forward_all(const BlockInput& in, LayerScratch& scratch, LayerBlock& block) const;
  // dx [lanes x ldx] = gradient into the input units of this block, from `delta_t` [count x lanes]. Of
  // block.sparse, where it is in use, only what it lists is looked at.
  void backward_input(const BlockInput& in, const float* delta_t, LayerScratch& scratch,
                      const LayerBlock& block, float* dx, std::size_t ldx) const;
  // Hidden layer: takes block.delta through the activation, to block.delta_t.
  void backward_activation(std::size_t lanes, LayerBlock& block) const;
  // Lists the block's touched rows, those with a delta that is not 0; `block_index` in the batch becomes
  // their source.
  void bin_touched(std::uint32_t block_index, LayerBlock& block) const;

  // What a shard needs from the blocks of a batch to update its rows.
  struct BatchView {
    std::vector<BlockInput> inputs;         // one a block
    std::vector<const float*> deltas;       // one a block, [count x lanes]
    std::vector<const LayerBlock*> blocks;  // this layer's part of each
    std::size_t samples = 0;                // in the batch
  };
  // Gradient and update of one shard's rows: those of `groups` (sampled) or every shards-th run (dense).
  void update(const BatchView& batch, const RowGroups& groups, std::uint32_t shard, std::uint32_t shards,
              const Optimizer& optimizer, UpdateScratch& scratch);

  std::uint64_t* slots() { return slots_.data(); }
  Parameters& weights() { return weights_; }
  const Parameters& weights() const { return weights_; }
  lsh::WeightRows weight_rows() const;  // the same for hashing
  Parameters& bias() { return bias_; }
  const Parameters& bias() const { return bias_; }

 private:
  const std::uint32_t* ids(const LayerBlock& block) const {
    return sampled() ? block.set.ids.data() : identity_.data();
  }
  // z [active x lanes] = scratch.shift + w * x; before bfloat16 weights, x is rounded, but where it is
  // partial
  void logits(const BlockInput& in, std::span<const std::uint32_t> active, LayerScratch& scratch,
              float* z) const;
  void finish_hidden(const BlockInput& in, LayerBlock& block) const;
  lsh::QueryBlock spread(const BlockInput& in, LayerScratch& scratch) const;
  void pack(const BlockInput& in, const std::uint32_t* ids, std::size_t count, LayerScratch& scratch) const;
  template <class SourcesOf>
  void sum_gradients(const BatchView& batch, std::size_t rows, SourcesOf&& sources_of,
                     UpdateScratch& scratch) const;
  template <class SourcesOf>
  void sum_sparse_gradients(const BatchView& batch, std::size_t rows, SourcesOf&& sources_of,
                            UpdateScratch& scratch) const;
  template <class SourcesOf>
  void update_rows(const BatchView& batch, std::span<const std::uint32_t> rows, SourcesOf&& sources_of,
                   const Optimizer& optimizer, UpdateScratch& scratch);
  void update_columns(const BatchView& batch, std::uint32_t row, std::span<const std::uint32_t> sources,
                      const Optimizer& optimizer, UpdateScratch& scratch);
  void update_wide(const BatchView& batch, std::uint32_t row, std::uint32_t source,
                   const Optimizer& optimizer, UpdateScratch& scratch);
  void update_dense(const BatchView& batch, std::uint32_t shard, std::uint32_t shards,
                    const Optimizer& optimizer, UpdateScratch& scratch);

  LayerConfig config_;
  bool output_;
  Parameters weights_;  // [neurons x inputs]
  Parameters bias_;     // [neurons x 1]
  ActiveSampler sampler_;
  std::unique_ptr<lsh::NeuronIndex> index_;
  std::unique_ptr<WidePath> wide_;
  std::vector<std::uint32_t> identity_;  // 0, 1, 2, ... for all neurons and packed rows
  AlignedArray<std::uint64_t> slots_;    // row directory of RowGroups
  StaleRows stale_;                      // of the tables
  std::size_t active_capacity_ = 0;      // source = block index * active_capacity_ + position
};

}  // namespace slide

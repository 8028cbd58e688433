// The network: layers in order, and the passes of one block of samples through them.
//
// Parameters are read by train_block() and written by update(); the trainer keeps the two apart in time. Both
// may run on many threads, train_block() with a ThreadScratch each, update() with a shard each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/config/config.h"
#include "engine/features/feature_scale.h"
#include "engine/network/block.h"
#include "engine/network/feature_shards.h"
#include "engine/network/input_layer.h"
#include "engine/network/layer.h"
#include "engine/wide/output_start.h"

namespace slide {

// Sizes that come from the data.
struct DataShape {
  std::size_t features = 0;
  std::size_t labels = 0;
  std::vector<std::uint32_t> label_frequencies;  // in the training set; size labels
  std::size_t samples = 0;                       // in the training set
};

// The most a block of the training set can hold.
struct BlockBounds {
  std::size_t feature_entries = 0;
  std::size_t label_entries = 0;
  // Of the whole data: labels times features of each sample, summed. The patterns of a wide path hold no
  // more.
  std::size_t label_features = SIZE_MAX;
  // Likewise: what neighbours keep.
  std::size_t samples = 0;
  std::size_t all_features = 0;
  std::size_t all_labels = 0;
};
BlockBounds bounds_of(const Dataset& data, std::size_t block_size);

struct ThreadScratch {
  std::vector<LayerScratch> layers;
  std::vector<float> log_norm;
};

// One shard of the update: its groups of touched rows and working memory.
struct ShardScratch {
  std::vector<std::span<const Contribution>> parts;
  std::vector<SamplePart> samples;
  RowGroups groups;
  AlignedArray<float> gradient;
  PackedRow packed;
  std::vector<UpdateScratch> layers;
  Layer::BatchView batch;
};

class Network {
 public:
  // Layer sizes of 0 in the last place become shape.labels. Throws InputError when the configuration and the
  // data do not fit.
  Network(const Config& config, const DataShape& shape);

  // Random weights of the configured seed, zero biases; no tables yet.
  void initialise(int threads);
  void rebuild_index(std::uint64_t generation, int threads);
  // Factors of the features by data.idf_power. Before start_output() and before blocks are made.
  void scale_features(const Dataset& train);
  const FeatureScale& feature_scale() const { return feature_scale_; }
  void set_feature_scale(FeatureScale scale) { feature_scale_ = std::move(scale); }
  // First biases of a one-vs-all output layer, patterns and first weights of its wide path (see
  // output_start.h).
  void start_output(const Dataset& train, const DataShape& shape, int threads);
  // Seed of a layer's hash functions, with which Layer::rebuild_index() is called.
  std::uint64_t hash_seed(std::size_t layer) const { return mix64(config_.train.seed) + layer; }
  void rehash(std::size_t layer, int threads) { layers_[layer].rehash(threads); }

  // Everything that later steps depend on. load() needs a network that is ready to
  // train.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  const Config& config() const { return config_; }
  std::size_t features() const { return features_; }
  std::size_t labels() const { return layers_.back().size(); }
  const std::optional<InputLayer>& input() const { return input_; }
  std::optional<InputLayer>& input() { return input_; }
  const std::vector<Layer>& layers() const { return layers_; }
  std::vector<Layer>& layers() { return layers_; }
  Layer& output() { return layers_.back(); }
  const Layer& output() const { return layers_.back(); }

  bool wide() const { return config_.layers.back().wide; }

  // Training memory. Call prepare() once, before the first step.
  void prepare(const Dataset& train, std::size_t batch_samples, std::uint32_t shards);
  Block make_block() const;
  ThreadScratch make_thread_scratch() const;
  ShardScratch make_shard_scratch(std::size_t blocks) const;  // `blocks` in a batch

  // Adds a sample, as the layers take it, to the rows of a block of make_block() or make_inference_block().
  // The row must live as long as the block uses it.
  void add_row(const SparseRow& row, Block& block) const {
    block.rows.push_back(feature_scale_.scaled(row, block.values));
  }

  // Forward, loss and backward of one block; leaves deltas and touched rows in `block`. `index` is the
  // block's place in the batch, `first_sample` that of its first sample; scale = 1 / samples in the batch.
  void train_block(Block& block, std::uint32_t index, std::size_t first_sample, std::uint64_t step,
                   float scale, ThreadScratch& scratch);

  // Gradients and new weights of the rows of one shard, from all blocks of the batch.
  void update(std::span<Block> blocks, std::uint32_t shard, std::size_t batch_samples,
              const Optimizer& optimizer, ShardScratch& scratch);

  // Hidden activations with all neurons, for inference: the input of the output layer.
  BlockInput infer_hidden(Block& block, ThreadScratch& scratch) const;
  Block make_inference_block(std::size_t lanes, std::size_t feature_entries) const;
  ThreadScratch make_inference_scratch(std::size_t lanes, std::size_t feature_entries) const;

 private:
  OutputStart output_start(const Dataset& train, const DataShape& shape, int threads) const;
  // Input of layers_[l] in this block.
  BlockInput input_of(std::size_t l, const Block& block) const;
  LayerBlock& block_of(std::size_t l, Block& block) const { return block.layers[l + (input_ ? 1 : 0)]; }
  void forward_block(Block& block, std::uint32_t index, std::uint64_t step, ThreadScratch& scratch) const;
  void backward_block(Block& block, std::uint32_t index, ThreadScratch& scratch);
  void maybe_drop(const LayerConfig& layer, std::size_t depth, std::uint32_t index, std::uint64_t step,
                  Block& block, LayerBlock& at) const;
  double loss(Block& block, float scale, ThreadScratch& scratch) const;
  void round_deltas(Block& block, std::uint32_t index, std::uint64_t step, float scale) const;
  BlockLimits limits_of(std::size_t l) const;

  Config config_;
  std::size_t features_;
  FeatureScale feature_scale_;
  std::optional<InputLayer> input_;
  std::vector<Layer> layers_;  // the row-wise layers; all of them when there is no input_
  BlockBounds bounds_;
  FeatureShards feature_shards_;
  std::size_t lanes_ = 0;
  std::uint32_t shards_ = 1;
};

}  // namespace slide

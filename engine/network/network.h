// The network: its layers and parameters, and their forward pass at inference. NetworkTraining
// (network_training.h) holds the state of training.
//
// A dense first layer is stored by feature: input(), Block::input. The other layers are stored by neuron:
// layers()[l], Block::layers[l]; l counts from 0 without the input layer.
//
// Thread safety: const functions are safe from any thread, with a Block and a ThreadScratch each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/block.h"
#include "engine/network/input_layer.h"
#include "engine/network/input_transform.h"
#include "engine/network/layer.h"
#include "engine/network/network_parts.h"

namespace slide {

// Sizes that come from the data.
struct DataShape {
  std::size_t features = 0;  // sparse and dense, without crosses
  std::size_t labels = 0;
  std::vector<std::uint32_t> label_frequencies;              // in the training set; size labels
  std::size_t samples = 0;                                   // in the training set
  std::size_t dense = 0;                                     // dense columns: the last of the features
  std::size_t crosses = 0;                                   // feature crosses, numbered after the features
  std::size_t inputs() const { return features + crosses; }  // of the first layer
};
// The shape of a training set without crosses.
DataShape shape_of(const Dataset& train);

// Number of output neurons for this configuration and data. Throws InputError for a configuration without
// layers.
std::size_t output_neurons(const Config& config, const DataShape& shape);

// Working memory of one thread.
struct ThreadScratch {
  std::vector<LayerScratch> layers;
  std::vector<float> log_norm;    // [lanes], for a normalised loss
  std::vector<float> sums;        // of a sample, in a network in parts
  std::vector<std::size_t> ends;  // StepSchedule: by block, the number of tasks up to its last
};

class Network {
 public:
  // Zero weights, no tables; then load a model file or call initialise(). A last layer of size 0 gets
  // shape.labels neurons. Throws InputError where configuration and data do not fit.
  Network(const Config& config, const DataShape& shape);
  // The same with the rows of parts.own only.
  Network(const Config& config, const DataShape& shape, NetworkParts parts);

  // Random weights of the configured seed, zero biases; no tables. `input_ends`: InputLayer::initialise().
  void initialise(int threads, std::span<const std::size_t> input_ends = {});
  // Builds the hash tables of all layers that have any, with the hash functions of `generation`.
  void rebuild_index(std::uint64_t generation, int threads);
  // The last generation; 1 without tables.
  std::uint64_t generation() const;
  // Transform of the rows before the first layer (crosses, idf factors); nullptr: none.
  const InputTransform* transform() const { return transform_.get(); }
  void set_transform(std::shared_ptr<const InputTransform> transform) { transform_ = std::move(transform); }
  // Seed of a layer's hash functions, with which Layer::rebuild_index() is called.
  std::uint64_t hash_seed(std::size_t l) const { return mix64(config_.train.seed) + l; }

  const Config& config() const { return config_; }
  // Number of features of all parts, with crosses; and without them.
  std::size_t features() const { return features_; }
  std::size_t sample_features() const { return features_ - (transform_ ? transform_->added() : 0); }
  std::size_t labels() const { return parts_.neuron_ends.back(); }
  std::size_t dense() const { return dense_; }  // dense columns among the features
  const NetworkParts& parts() const { return parts_; }
  // Rows of input() that belong to part number `part` of this process.
  Slice features_of(std::size_t part) const {
    const Slice all = parts_.features({parts_.own.first + part, 1});
    return {all.first - parts_.own_features().first, all.count};
  }
  const std::optional<InputLayer>& input() const { return input_; }
  std::optional<InputLayer>& input() { return input_; }
  const std::vector<Layer>& layers() const { return layers_; }
  std::vector<Layer>& layers() { return layers_; }
  Layer& output() { return layers_.back(); }
  const Layer& output() const { return layers_.back(); }
  // Index of layer l in config().layers.
  std::size_t number_in_config(std::size_t l) const { return l + (input_ ? 1 : 0); }

  // Weights and biases of each layer, from the input on, in the order of model files.
  std::vector<const Parameters*> matrices() const;
  std::vector<Parameters*> matrices();
  // Name of a matrix in messages, by its index in matrices(): "weights of layer.0".
  static std::string matrix_name(std::size_t matrix);

  bool wide() const { return config_.layers.back().wide; }

  // Appends a sample to a block, with crosses and scaled. `data`: without crosses; its sparse features must
  // outlive the use of the block.
  void add_sample(const Dataset& data, std::size_t sample, Block& block) const {
    if (dense_ > 0) data.dense().copy_row(sample, block.dense.row(block.rows.size()));
    const SparseRow row = data.features(sample);
    add_crossed(transform_ ? transform_->extended(row, block.ids, block.crossed) : row, block);
  }
  // The same for a data set with crosses.
  void add_crossed_sample(const Dataset& data, std::size_t sample, Block& block) const {
    if (dense_ > 0) data.dense().copy_row(sample, block.dense.row(block.rows.size()));
    add_crossed(data.features(sample), block);
  }
  // The same for a row with crosses and without dense features.
  void add_crossed(const SparseRow& row, Block& block) const {
    block.rows.push_back(transform_ ? transform_->scaled(row, block.values) : row);
    if (block.split) block.own_rows.push_back(own_features(block.rows.back(), block.own_ids));
  }
  // The entries of a row whose features this process holds, renumbered from its first feature. Appends their
  // ids to `ids`; the result is valid until `ids` reallocates.
  SparseRow own_features(const SparseRow& row, std::vector<std::uint32_t>& ids) const;

  // Allocates a block's memory for the features of up to `lanes` samples, with up to `entries` (sample,
  // sparse feature) pairs, crosses included.
  void reserve_features(std::size_t entries, std::size_t lanes, Block& block) const;
  // Prepares the block's features for a first layer stored by neuron.
  void enter_rows(Block& block) const;
  // Inference: prepares the block's features for the first layer; computes the activations of an input layer.
  void forward_input(Block& block) const;
  // Input of layer l in this block, a view: activations of the layer below or of the input layer; without
  // these, the features.
  BlockInput input_of(std::size_t l, const Block& block) const;

  // Inference: computes all hidden layers with all neurons; returns the input of the output layer.
  BlockInput infer_hidden(Block& block, ThreadScratch& scratch) const;
  // The same for a network of an input layer and an output layer whose features are divided among processes.
  // `sums` [samples x size of the input layer]: pre-activations without bias, summed over all processes.
  BlockInput take_hidden(Block& block, const float* sums) const;
  Block make_inference_block(std::size_t lanes, std::size_t feature_entries) const;
  ThreadScratch make_inference_scratch(std::size_t lanes, std::size_t feature_entries) const;

 private:
  void check_dense() const;

  Config config_;
  std::size_t features_;
  std::size_t dense_;
  NetworkParts parts_;
  std::shared_ptr<const InputTransform> transform_;
  std::optional<InputLayer> input_;
  std::vector<Layer> layers_;  // stored by neuron
};

}  // namespace slide

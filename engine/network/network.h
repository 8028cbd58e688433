// The network: its parameters, and how a sample passes through them. What training needs besides stands in
// network_training.h.
//
// Layer l is layers()[l], the l-th layer stored by neuron, here and in Block::layers; a dense first layer,
// stored by feature, is input() and Block::input, and has no number.
//
// Everything const may run on many threads at once, with a Block and a ThreadScratch each.
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
  std::size_t features = 0;  // with dense ones
  std::size_t labels = 0;
  std::vector<std::uint32_t> label_frequencies;  // in the training set; size labels
  std::size_t samples = 0;                       // in the training set
  std::size_t dense = 0;                         // dense columns: the last of the features
  std::size_t crosses = 0;                       // of features, as further features; needs dense == 0
  std::size_t inputs() const { return features + crosses; }  // of the first layer
};
// Of a training set without pairs.
DataShape shape_of(const Dataset& train);

// Neurons of the output layer that the configuration says for such data. Throws InputError where it has no
// layer.
std::size_t output_neurons(const Config& config, const DataShape& shape);
struct ThreadScratch {
  std::vector<LayerScratch> layers;
  std::vector<float> log_norm;
  std::vector<float> sums;        // of a sample
  std::vector<std::size_t> ends;  // of the tasks of each block, where this thread hands them out
};

class Network {
 public:
  // Zero weights, no tables: for a model file to fill, or initialise(). Layer sizes of 0 in the last place
  // become shape.labels. Throws InputError when the configuration and the data do not fit.
  Network(const Config& config, const DataShape& shape);
  // What a process holds of it.
  Network(const Config& config, const DataShape& shape, NetworkParts parts);

  // Random weights of the configured seed, zero biases; no tables yet.
  // `input_ends`: of the features of an input layer that each thread writes first (Parameters::fill_uniform).
  void initialise(int threads, std::span<const std::size_t> input_ends = {});
  // Tables of all layers that have any, of the weights as they are.
  void rebuild_index(std::uint64_t generation, int threads);
  // Of the hash functions that a layer got last; 1 without tables.
  std::uint64_t generation() const;
  // What rows go through before the first layer; nullptr: nothing.
  const InputTransform* transform() const { return transform_.get(); }
  void set_transform(std::shared_ptr<const InputTransform> transform) { transform_ = std::move(transform); }
  // Seed of a layer's hash functions, with which Layer::rebuild_index() is called.
  std::uint64_t hash_seed(std::size_t l) const { return mix64(config_.train.seed) + l; }

  const Config& config() const { return config_; }
  // Of all parts: with the features that the transform adds, and without them.
  std::size_t features() const { return features_; }
  std::size_t sample_features() const { return features_ - (transform_ ? transform_->added() : 0); }
  std::size_t labels() const { return parts_.neuron_ends.back(); }
  std::size_t dense() const { return dense_; }  // of these, dense columns
  // The parts there are, and which of them are here.
  const NetworkParts& parts() const { return parts_; }
  // Of a part here, its features among those of input().
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
  // The number of layer l in the configuration.
  std::size_t number_in_config(std::size_t l) const { return l + (input_ ? 1 : 0); }

  // Weights and biases of each layer, from the input on: the order of files.
  std::vector<const Parameters*> matrices() const;
  std::vector<Parameters*> matrices();
  // What messages call the matrix of this number: "weights of layer.0".
  static std::string matrix_name(std::size_t matrix);

  bool wide() const { return config_.layers.back().wide; }

  // Adds a sample, as the layers take it, to a block. Its sparse features must live as long as the block uses
  // them. The data set has the features of samples.
  void add_sample(const Dataset& data, std::size_t sample, Block& block) const {
    if (dense_ > 0) data.dense().copy_row(sample, block.dense.row(block.rows.size()));
    const SparseRow row = data.features(sample);
    add_crossed(transform_ ? transform_->extended(row, block.ids, block.crossed) : row, block);
  }
  // The same of a data set whose samples have their pairs already.
  void add_crossed_sample(const Dataset& data, std::size_t sample, Block& block) const {
    if (dense_ > 0) data.dense().copy_row(sample, block.dense.row(block.rows.size()));
    add_crossed(data.features(sample), block);
  }
  // The same of a row without dense features that has its pairs.
  void add_crossed(const SparseRow& row, Block& block) const {
    block.rows.push_back(transform_ ? transform_->scaled(row, block.values) : row);
    if (block.split) block.own_rows.push_back(own_features(block.rows.back(), block.own_ids));
  }
  // What a row has of the features of input(), numbered from the first of these on: their ids are appended to
  // `ids`, and it is good as long as they do not move.
  SparseRow own_features(const SparseRow& row, std::vector<std::uint32_t>& ids) const;

  // Makes room for what the layers take of the features of up to `lanes` samples with `entries` sparse ones,
  // pairs among them.
  void reserve_features(std::size_t entries, std::size_t lanes, Block& block) const;
  // What a first layer by neuron needs of the block's samples.
  void enter_rows(Block& block) const;
  // What the first layer needs of the block's samples, and its activations where it is the input layer:
  // inference.
  void forward_input(Block& block) const;
  // Input of layer l in this block: activations of the layer below, or the samples themselves.
  BlockInput input_of(std::size_t l, const Block& block) const;

  // Hidden activations with all neurons, for inference: the input of the output layer.
  BlockInput infer_hidden(Block& block, ThreadScratch& scratch) const;
  // The same of a network of an input layer and the output, where other processes have features, too: from
  // what all of them add to the hidden units, `sums` [samples x size of the input layer].
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
  std::vector<Layer> layers_;  // stored by neuron; all of them when there is no input_
};

}  // namespace slide

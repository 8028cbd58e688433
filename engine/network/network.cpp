#include "engine/network/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"

namespace slide {

DataShape shape_of(const Dataset& train) {
  return {train.feature_count(), train.label_count(), train.label_frequencies(), train.samples(),
          train.dense_count()};
}

std::size_t output_neurons(const Config& config, const DataShape& shape) {
  if (config.layers.empty()) fail_input("the configuration has no [[layer]]");
  const std::size_t size = config.layers.back().size;
  return size == 0 ? shape.labels : size;
}

namespace {

// The three inputs of a layer: activations of the layer below, dense features, sparse features as columns.
void view_activations(const LayerBlock& below, BlockInput& in) {
  in.partial = !below.all;
  if (in.partial) in.columns = below.set.ids;
  in.width = below.count;
  in.xt = below.out_t.data();
  in.x = below.out.data();
  in.ldx = below.ldo;
}

void view_dense(const DenseInput& dense, BlockInput& in) {
  in.width = dense.columns();
  in.xt = dense.xt();
  in.x = dense.x();
  in.ldx = dense.ldx();
}

void view_columns(const FeatureColumns& columns, BlockInput& in) {
  in.partial = true;
  in.columns = columns.ids;
  in.width = columns.ids.size();
  in.xt = columns.xt.data();
  in.x = columns.x.data();
  in.ldx = columns.ldx;
}

}  // namespace

Network::Network(const Config& config, const DataShape& shape)
    : Network(config, shape, whole_network(shape.inputs(), output_neurons(config, shape))) {}

// Input and output layer get the rows of this process's parts; layers between them are whole.
Network::Network(const Config& config, const DataShape& shape, NetworkParts parts)
    : config_(config), features_(shape.inputs()), dense_(shape.dense), parts_(std::move(parts)) {
  if (features_ == 0) fail_input("the training data has no features");
  const std::size_t neurons = output_neurons(config, shape);
  if (neurons < shape.labels) {
    fail_input(
        "the last layer has {} neurons, but the data has {} labels; set its size to 0 to take the data's",
        neurons, shape.labels);
  }
  if (dense_ > 0) check_dense();
  const NetworkShape shapes = network_shape(config_, features_, parts_, dense_);
  if (shapes.input) {
    input_.emplace(*shapes.input, shapes.input_features, config_.train.weights,
                   Slice{shape.features - dense_, dense_});
    if (!parts_.complete()) input_->weights().share(parts_.own_features().first, features_);
  }
  std::vector<std::uint32_t> frequencies = shape.label_frequencies;
  frequencies.resize(neurons, 0);
  const Slice own = parts_.own_neurons();
  layers_.reserve(shapes.layers.size());
  for (const LayerShape& layer : shapes.layers) {
    const std::span<const std::uint32_t> all(frequencies);
    if (layer.output) {
      layers_.emplace_back(layer, all.subspan(own.first, own.count), own.first);
      if (parts_.complete()) continue;
      layers_.back().weights().share(own.first, all.size());
      layers_.back().bias().share(own.first, all.size());
    } else {
      layers_.emplace_back(layer, std::span<const std::uint32_t>());
    }
  }
}

// Throws InputError where the network cannot take dense features.
void Network::check_dense() const {
  const bool by_feature = config_.layers.size() > 1 && config_.layers.front().kind == LayerKind::kDense;
  if (!by_feature && dense_ < features_) {
    fail_input(
        "the data has sparse and dense features; that needs a first layer that is hidden and dense: set "
        "layer.0.kind = \"dense\"");
  }
  if (parts_.split() && config_.layers.size() > 1) {
    fail_input(
        "the data has dense features, whose first layer is trained in one part; set train.shards = 1, in one "
        "process");
  }
}

namespace {

template <class Matrix, class N>
std::vector<Matrix*> matrices_of(N& network) {
  std::vector<Matrix*> all;
  if (network.input()) all = {&network.input()->weights(), &network.input()->bias()};
  for (auto& layer : network.layers()) {
    all.push_back(&layer.weights());
    all.push_back(&layer.bias());
  }
  return all;
}

}  // namespace

std::vector<const Parameters*> Network::matrices() const {
  return matrices_of<const Parameters>(*this);
}
std::vector<Parameters*> Network::matrices() {
  return matrices_of<Parameters>(*this);
}

std::string Network::matrix_name(std::size_t matrix) {
  return fmt::format("{} of layer.{}", matrix % 2 == 0 ? "weights" : "biases", matrix / 2);
}

void Network::initialise(int threads, std::span<const std::size_t> input_ends) {
  if (input_) input_->initialise(config_.train.seed, threads, input_ends);
  for (std::size_t l = 0; l < layers_.size(); ++l) layers_[l].initialise(config_.train.seed, l + 1, threads);
}

void Network::rebuild_index(std::uint64_t generation, int threads) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    layers_[l].rebuild_index(hash_seed(l), generation, threads);
  }
}

std::uint64_t Network::generation() const {
  std::uint64_t last = 1;
  for (const Layer& layer : layers_) {
    if (layer.index() != nullptr) last = std::max(last, layer.index()->generation());
  }
  return last;
}

// Features ascend, so the own ones are consecutive.
SparseRow Network::own_features(const SparseRow& row, std::vector<std::uint32_t>& ids) const {
  const Slice own = parts_.own_features();
  const auto begin = std::ranges::lower_bound(row.ids, own.first) - row.ids.begin();
  const auto end = std::ranges::lower_bound(row.ids, own.end()) - row.ids.begin();
  const auto first = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
  const std::size_t at = ids.size();
  for (const std::uint32_t id : row.ids.subspan(first, count))
    ids.push_back(id - static_cast<std::uint32_t>(own.first));
  return {{ids.data() + at, count}, row.values.subspan(first, count)};
}

// Only what the transform, the linear term and the first layer of this network use.
void Network::reserve_features(std::size_t entries, std::size_t lanes, Block& block) const {
  if (transform_ && transform_->added() > 0) {
    block.ids.reserve(entries);
    block.crossed.reserve(entries);
  }
  if (transform_ && transform_->scales()) block.values.reserve(entries);
  if (wide()) block.features.reserve(sample_features(), entries, lanes);
  if (dense_ > 0)
    block.dense.reserve(dense_, lanes, input_ ? DenseInput::Order::kSlices : DenseInput::Order::kWhole);
  if (!input_ && dense_ == 0) block.columns.reserve(features_, entries, lanes);
}

void Network::enter_rows(Block& block) const {
  if (dense_ > 0) {
    block.dense.transpose_all(block.samples(), block.lanes);
  } else {
    block.columns.build(block.rows, block.lanes);
  }
}

void Network::forward_input(Block& block) const {
  if (wide()) block.features.build(block.rows, block.lanes, sample_features());
  if (!input_) return enter_rows(block);
  if (dense_ == 0) return input_->forward(block.rows, block.lanes, {0, block.lanes}, block.input);
  block.dense.transpose_all(block.samples(), block.lanes);
  for (std::size_t slice = 0; slice < slices_of(block.lanes, kSliceSamples); ++slice)
    input_->forward(block.rows, block.dense, block.lanes, slice, block.input);
}

// By what is below: a layer, the input layer, dense features, or sparse features as columns.
BlockInput Network::input_of(std::size_t l, const Block& block) const {
  BlockInput in;
  in.lanes = block.lanes;
  in.samples = block.samples();
  in.features = &block.features;
  if (l > 0) {
    view_activations(block.layers[l - 1], in);
  } else if (input_) {
    view_activations(block.input, in);
  } else if (dense_ > 0) {
    view_dense(block.dense, in);
  } else {
    view_columns(block.columns, in);
  }
  return in;
}

// Hidden layers have all neurons active; logits of the output layer are not part of the block.
Block Network::make_inference_block(std::size_t lanes, std::size_t feature_entries) const {
  Block block;
  block.lanes = lanes;
  block.layers.resize(layers_.size());
  reserve_features(feature_entries, lanes, block);
  if (input_) input_->reserve(block.input, lanes);
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
    LayerBlock& at = block.layers[l];
    at.ldo = kernels::spread_stride(layers_[l].size());
    at.out_t = AlignedArray<float>(layers_[l].size() * lanes);
    at.out = AlignedArray<float>(at.ldo * lanes);
  }
  return block;
}

ThreadScratch Network::make_inference_scratch(std::size_t lanes, std::size_t feature_entries) const {
  ThreadScratch scratch;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const std::size_t columns = l == 0 && !input_ && dense_ == 0 ? std::min(features_, feature_entries) : 0;
    scratch.layers.push_back(layers_[l].make_scratch({lanes, columns, columns > 0, 0}));
  }
  return scratch;
}

BlockInput Network::take_hidden(Block& block, const float* sums) const {
  if (wide()) block.features.build(block.rows, block.lanes, sample_features());
  const std::size_t size = input_->size();
  const auto sum_of = [&](std::size_t s, float* h) { std::copy_n(sums + s * size, size, h); };
  input_->activate(block.samples(), block.lanes, {0, block.lanes}, sum_of, block.input);
  return input_of(0, block);
}

BlockInput Network::infer_hidden(Block& block, ThreadScratch& scratch) const {
  forward_input(block);
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
    layers_[l].forward_all(input_of(l, block), scratch.layers[l], block.layers[l]);
  }
  return input_of(layers_.size() - 1, block);
}

}  // namespace slide

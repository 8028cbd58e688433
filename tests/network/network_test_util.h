// Small data sets, configurations and a step-by-step driver for the tests of the engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/byte_io.h"
#include "engine/base/rng.h"
#include "engine/config/config.h"
#include "engine/config/spellings.h"
#include "engine/network/network.h"
#include "engine/network/network_training.h"
#include "engine/network/optimizer.h"

namespace slide::test {

struct DataSpec {
  std::uint32_t samples = 40;
  std::uint32_t features = 11;
  std::uint32_t labels = 9;
  std::uint32_t entries = 4;      // max features of a sample
  std::uint32_t max_labels = 3;   // labels of a sample: 1 to this many
  std::uint32_t unlabelled = 0;   // every n-th sample has no label; 0: none
  std::uint32_t featureless = 0;  // every n-th sample has no feature; 0: none
  bool weighted = false;          // every sample has a weight, from 0 to 3
  bool label_weights = false;     // every label has a weight, from 0 to 3
  bool label_margins = false;     // and a logit margin, likewise: Stepper::set_margins
  std::uint32_t dense = 0;        // the last features are dense columns
  std::uint64_t seed = 1;
};

// A literal sample, ids ascending.
struct Sample {
  std::vector<std::pair<std::uint32_t, float>> features;
  std::vector<std::uint32_t> labels;
};

inline Dataset dataset_of(const std::vector<Sample>& samples, std::uint32_t features, std::uint32_t labels) {
  DatasetArrays arrays;
  for (const Sample& sample : samples) {
    for (const auto& [id, value] : sample.features) {
      arrays.feature_ids.push_back(id);
      arrays.feature_values.push_back(value);
    }
    arrays.label_ids.insert(arrays.label_ids.end(), sample.labels.begin(), sample.labels.end());
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return {std::move(arrays), features, labels};
}

inline void add_sample(DatasetArrays& arrays, const std::set<std::uint32_t>& features,
                       const std::vector<float>& values, const std::set<std::uint32_t>& labels) {
  arrays.feature_ids.insert(arrays.feature_ids.end(), features.begin(), features.end());
  arrays.feature_values.insert(arrays.feature_values.end(), values.begin(), values.end());
  arrays.feature_offsets.push_back(arrays.feature_ids.size());
  arrays.label_ids.insert(arrays.label_ids.end(), labels.begin(), labels.end());
  arrays.label_offsets.push_back(arrays.label_ids.size());
}

// The same samples, with the last `dense` features as dense columns.
inline Dataset with_last_dense(const Dataset& data, std::uint32_t dense) {
  if (dense == 0) return data;
  const std::uint32_t first = data.feature_count() - dense;
  const auto numbers = std::make_shared<std::vector<float>>(data.size() * dense);
  DatasetArrays arrays;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const SparseRow row = data.features(i);
    for (std::size_t f = 0; f < row.ids.size(); ++f) {
      if (row.ids[f] >= first) {
        (*numbers)[i * dense + row.ids[f] - first] = row.values[f];
        continue;
      }
      arrays.feature_ids.push_back(row.ids[f]);
      arrays.feature_values.push_back(row.values[f]);
    }
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_ids.insert(arrays.label_ids.end(), data.labels(i).begin(), data.labels(i).end());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  arrays.weights.assign(data.weights().begin(), data.weights().end());
  const DenseMatrix matrix{bytes_of(*numbers), DenseType::kFloat32, data.size(), dense};
  return Dataset(std::move(arrays), first, data.label_count())
      .with_dense({numbers, matrix, false, 1, "test"});
}

inline std::shared_ptr<const std::vector<float>> random_label_weights(const DataSpec& spec) {
  const auto weights = std::make_shared<std::vector<float>>();
  Rng rng(spec.seed, Purpose::kTest, 78, 0);
  for (std::uint32_t label = 0; label < spec.labels; ++label)
    weights->push_back(label == 1 ? 0.0f : static_cast<float>(3 * rng.uniform()));
  return weights;
}

// Samples whose labels depend on their features, so that they can be learnt.
inline Dataset make_data(const DataSpec& spec) {
  DatasetArrays arrays;
  for (std::uint32_t i = 0; i < spec.samples; ++i) {
    Rng rng(spec.seed, Purpose::kTest, spec.features, i);
    std::set<std::uint32_t> features, labels;
    const std::uint32_t first = rng.below(spec.labels), wanted = 1 + rng.below(spec.max_labels);
    const auto is_every = [&](std::uint32_t n) { return n > 0 && i % n == n - 1; };
    for (std::uint32_t k = 0; k < wanted && !is_every(spec.unlabelled); ++k) {
      labels.insert((first + k * k) % spec.labels);
    }
    for (std::uint32_t k = 0; k < spec.entries && !is_every(spec.featureless); ++k) {
      features.insert(k % 2 == 0 ? (first * 3 + k) % spec.features : rng.below(spec.features));
    }
    std::vector<float> values(features.size());
    for (float& value : values) value = static_cast<float>(0.2 + 0.6 * rng.uniform());
    add_sample(arrays, features, values, labels);
    if (spec.weighted) arrays.weights.push_back(static_cast<float>(3 * rng.uniform()));
  }
  const Dataset data = with_last_dense({std::move(arrays), spec.features, spec.labels}, spec.dense);
  return spec.label_weights ? data.with_label_weights(random_label_weights(spec)) : data;
}

// Every value of LossKind.
inline std::vector<LossKind> all_losses() {
  std::vector<LossKind> all(spellings_of(LossKind{}).size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<LossKind>(i);
  return all;
}

// Softmax over the active neurons, exact gradients, no kNN votes; layers are added later.
inline Config plain_config() {
  Config config;
  config.train.epochs = 5;
  config.train.batch_size = 64;
  config.train.block_size = 32;
  config.optimizer.learning_rate = 0.05;
  config.loss.kind = LossKind::kSoftmax;
  config.loss.gradient_threshold = 0.0;
  config.neighbours.share = 0.0;
  config.layers.clear();
  return config;
}

// Dense; where made sampled, with logQ corrections; no linear term, and a plain one where added.
inline LayerConfig plain_layer() {
  LayerConfig layer;
  layer.size = 0;
  layer.uniform = 128;
  layer.logq_correction = true;
  layer.wide_features = 128;
  layer.wide_negatives = 0;
  layer.wide_rate = 0.1;
  layer.wide_scale = 1.0;
  layer.wide_fit = 0.0;
  layer.hash.range_pow = 9;
  layer.hash.rehash_steps = 100;
  return layer;
}

// One thread, one-vs-all, a few uniform negatives: a small hidden layer and a linear term.
inline Config small_wide_config() {
  Config config = plain_config();
  config.train.threads = 1;
  config.train.batch_size = 32;
  config.train.block_size = 32;
  config.loss.kind = LossKind::kSigmoid;
  LayerConfig hidden = plain_layer(), output = plain_layer();
  hidden.size = 8;
  output.kind = LayerKind::kSampled;
  output.lsh = 0;
  output.uniform = 20;
  output.logq_correction = false;
  output.wide = true;
  config.layers = {hidden, output};
  return config;
}

inline DataShape shape_of_data(const Dataset& data) {
  return {data.feature_count(), data.label_count(), data.label_frequencies(), data.size(),
          data.dense_count()};
}

// Hash tables small enough for a dozen neurons.
inline HashConfig small_hash() {
  HashConfig hash;
  hash.k = 2;
  hash.tables = 6;
  hash.range_pow = 2;
  hash.bucket_capacity = 16;
  hash.rehash_steps = 100;
  return hash;
}

// With tables over the output layer, and the other components of a score.
inline Config scoring_config(bool wide, double neighbours) {
  Config config = small_wide_config();
  config.loss.kind = wide ? LossKind::kSigmoid : LossKind::kSoftmax;
  config.layers.back().wide = wide;
  config.layers.back().lsh = 8;
  config.layers.back().hash = small_hash();
  config.neighbours.share = neighbours;
  return config;
}

inline LayerConfig dense(std::uint32_t size, Activation activation = Activation::kRelu,
                         double dropout = 0.0) {
  LayerConfig layer = plain_layer();
  layer.size = size;
  layer.activation = activation;
  layer.dropout = dropout;
  return layer;
}

inline LayerConfig sampled(std::uint32_t size, std::uint32_t lsh, std::uint32_t uniform,
                           Activation activation = Activation::kRelu, double dropout = 0.0) {
  LayerConfig layer = dense(size, activation, dropout);
  layer.kind = LayerKind::kSampled;
  layer.lsh = lsh;
  layer.uniform = uniform;
  layer.hash = small_hash();
  return layer;
}

inline Config make_config(std::vector<LayerConfig> layers, std::uint32_t batch, std::uint32_t block) {
  Config config = plain_config();
  config.layers = std::move(layers);
  config.train.batch_size = batch;
  config.train.block_size = block;
  config.train.seed = 3;
  return config;
}

// Random biases: zero ones would hide errors. Call before building the tables.
inline void randomise_biases(Network& network, std::uint64_t seed = 5) {
  const auto fill = [&](Parameters& bias, std::uint64_t item) {
    Rng rng(seed, Purpose::kTest, 77, item);
    for (std::size_t r = 0; r < bias.rows; ++r) {
      for (std::size_t c = 0; c < bias.columns; ++c) bias.row(r)[c] = static_cast<float>(0.3 * rng.normal());
    }
  };
  if (network.input()) fill(network.input()->bias(), 0);
  for (std::size_t l = 0; l < network.layers().size(); ++l) fill(network.layers()[l].bias(), l + 1);
}

// A network in train.shards shards, all in this process, with zero weights.
inline Network parted_network(const Config& config, const Dataset& data) {
  const std::size_t size = config.layers.back().size;
  const std::size_t neurons = size == 0 ? data.label_count() : size;
  return {config, shape_of_data(data), parts_for(config, data, neurons, 0, 1)};
}

// Drives a network as TrainingLoop::step does, on one thread, and keeps the blocks for inspection.
class Stepper {
 public:
  Stepper(Network& network, const Dataset& data, std::uint32_t shards = 1, Cluster* cluster = nullptr)
      : network_(network),
        data_(data),
        training_(network, data, {network.config().train.batch_size, shards, 1}, cluster) {}

  // By label; of further steps.
  void set_margins(std::vector<float> margins) { margins_ = std::move(margins); }
  // Forward, loss and backward of samples [first, first + count); returns the summed loss.
  double train(std::size_t first, std::size_t count, std::uint64_t step) {
    const std::size_t block_size = network_.config().train.block_size;
    count_ = count;
    used_ = (count + block_size - 1) / block_size;
    for (std::size_t b = 0; b < used_; ++b) {
      Block& block = training_.block(b);
      block.clear_samples();
      for (std::size_t i = b * block_size; i < std::min(count, (b + 1) * block_size); ++i) {
        network_.add_sample(data_, first + i, block);
        block.labels.push_back(data_.labels(first + i));
        if (!data_.weights().empty()) block.weights.push_back(data_.weights()[first + i]);
      }
    }
    PhaseSeconds phases;
    training_.pass(network_, used_, {step, 1.0f / static_cast<float>(count), data_.label_weights(), margins_},
                   phases);
    sums_ = training_.sums();
    return sums_.loss;
  }
  void update(const Optimizer& optimizer) { training_.update(network_, optimizer, 1); }
  NetworkTraining& training() { return training_; }
  // Of the last step.
  double active() const { return sums_.active; }
  std::span<const Block> blocks() const { return training_.first_blocks(used_); }

 private:
  Network& network_;
  const Dataset& data_;
  NetworkTraining training_;
  std::vector<float> margins_;
  std::size_t used_ = 0, count_ = 0;
  StepSums sums_;
};

}  // namespace slide::test

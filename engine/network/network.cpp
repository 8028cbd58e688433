#include "engine/network/network.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/kernels/kernels.h"
#include "engine/network/loss.h"

namespace slide {

namespace {

std::size_t sum_of_largest(std::vector<std::size_t>& counts, std::size_t n) {
  n = std::min(n, counts.size());
  std::nth_element(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n), counts.end(),
                   std::greater<>());
  return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n), std::size_t{0});
}

}  // namespace

BlockBounds bounds_of(const Dataset& data, std::size_t block_size) {
  std::vector<std::size_t> features(data.size()), labels(data.size());
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    features[i] = data.features(i).ids.size();
    labels[i] = data.labels(i).size();
    pairs += features[i] * labels[i];
  }
  return {sum_of_largest(features, block_size),
          sum_of_largest(labels, block_size),
          pairs,
          data.size(),
          data.feature_entries(),
          data.label_entries()};
}

Network::Network(const Config& config, const DataShape& shape) : config_(config), features_(shape.features) {
  if (config.layers.empty()) fail_input("the configuration has no [[layer]]");
  if (features_ == 0) fail_input("the training data has no features");
  if (config_.layers.back().size == 0) config_.layers.back().size = static_cast<std::uint32_t>(shape.labels);
  if (config_.layers.back().size < shape.labels) {
    fail_input(
        "the last layer has {} neurons, but the data has {} labels; set its size to 0 to take the data's",
        config_.layers.back().size, shape.labels);
  }
  const std::size_t depth = config_.layers.size();
  const bool by_feature = depth > 1 && config_.layers.front().kind == LayerKind::kDense;
  std::size_t inputs = features_;
  if (by_feature) {
    input_.emplace(config_.layers.front(), features_, config_.optimizer.kind, config_.train.weights);
    inputs = input_->size();
  }
  std::vector<std::uint32_t> frequencies = shape.label_frequencies;
  frequencies.resize(config_.layers.back().size, 0);
  layers_.reserve(depth);
  for (std::size_t i = by_feature ? 1 : 0; i < depth; ++i) {
    const LayerConfig& layer = config_.layers[i];
    const bool output = i + 1 == depth;
    const std::span<const std::uint32_t> weights =
        output ? std::span<const std::uint32_t>(frequencies) : std::span<const std::uint32_t>();
    layers_.emplace_back(layer, inputs, layer.size, output, config_.optimizer.kind, config_.train.weights,
                         weights);
    inputs = layer.size;
  }
}

void Network::initialise(int threads) {
  if (input_) input_->initialise(config_.train.seed, threads);
  for (std::size_t l = 0; l < layers_.size(); ++l) layers_[l].initialise(config_.train.seed, l + 1, threads);
}

void Network::rebuild_index(std::uint64_t generation, int threads) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    layers_[l].rebuild_index(hash_seed(l), generation, threads);
  }
}

void Network::scale_features(const Dataset& train) {
  feature_scale_ = FeatureScale(train, config_.data.idf_power, config_.data.normalize);
}

OutputStart Network::output_start(const Dataset& train, const DataShape& shape, int threads) const {
  const LayerConfig& layer = output().config();
  if (wide() && layer.wide_fit > 0 && config_.loss.kind == LossKind::kSigmoid) {
    const bool all = layer.kind == LayerKind::kDense || layer.correction;
    const auto fitted =
        fit_output_start(train, shape.label_frequencies, feature_scale_,
                         all ? double(shape.labels) : double(layer.uniform), config_.train.seed, threads);
    const double share = layer.wide_fit;
    if (fitted) return {share * fitted->scale, share * fitted->prior, share * fitted->offset};
  }
  return {layer.wide_scale, config_.loss.prior, 0.0};
}

void Network::start_output(const Dataset& train, const DataShape& shape, int threads) {
  const OutputStart start = output_start(train, shape, threads);
  if (config_.loss.kind == LossKind::kSigmoid) {
    for (std::size_t i = 0; i < shape.label_frequencies.size(); ++i) {
      const double bias = start.offset + start.prior * log_odds(shape.label_frequencies[i], shape.samples);
      *output().bias().row(i) = static_cast<float>(bias);
    }
  }
  if (wide()) {
    LayerConfig layer = output().config();
    layer.wide_scale = start.scale;
    output().set_wide(std::make_unique<WidePath>(layer, train, output().size(), threads, feature_scale_));
  }
}

BlockLimits Network::limits_of(std::size_t l) const {
  BlockLimits limits{lanes_, 0, false, bounds_.label_entries};
  limits.features = l == 0 && !input_;
  if (limits.features) limits.columns = std::min(features_, bounds_.feature_entries);
  limits.sparse_deltas = l + 1 == layers_.size() && config_.loss.delta_floor > 0;
  if (l > 0 && layers_[l - 1].sampled()) limits.columns = layers_[l - 1].active_limit(limits_of(l - 1));
  return limits;
}

void Network::prepare(const Dataset& train, std::size_t batch_samples, std::uint32_t shards) {
  lanes_ = config_.train.block_size;
  bounds_ = bounds_of(train, lanes_);
  shards_ = shards;
  if (input_) {
    input_->prepare(round_up(batch_samples, lanes_));
    feature_shards_ = FeatureShards(train, batch_samples, shards);
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) layers_[l].prepare_updates(shards, limits_of(l));
}

Block Network::make_block() const {
  Block block;
  block.lanes = lanes_;
  block.rows.reserve(lanes_);
  if (feature_scale_.active()) block.values.reserve(bounds_.feature_entries);
  block.labels.reserve(lanes_);
  block.layers.resize(layers_.size() + (input_ ? 1 : 0));
  if (wide()) block.features.reserve(features_, bounds_.feature_entries, lanes_);
  if (input_) {
    input_->reserve(block.layers.front(), lanes_);
    block.features_by_shard.reserve(shards_, lanes_, bounds_.feature_entries);
  } else {
    block.columns.reserve(features_, bounds_.feature_entries, lanes_);
  }
  for (std::size_t l = 0; l < layers_.size(); ++l)
    layers_[l].reserve(block_of(l, block), limits_of(l), shards_);
  return block;
}

ThreadScratch Network::make_thread_scratch() const {
  ThreadScratch scratch;
  scratch.log_norm.resize(lanes_);
  for (std::size_t l = 0; l < layers_.size(); ++l)
    scratch.layers.push_back(layers_[l].make_scratch(limits_of(l)));
  return scratch;
}

ShardScratch Network::make_shard_scratch(std::size_t blocks) const {
  ShardScratch scratch;
  std::size_t contributions = input_ ? bounds_.feature_entries : 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (layers_[l].sampled()) contributions = std::max(contributions, layers_[l].active_limit(limits_of(l)));
  }
  scratch.groups.reserve(contributions * blocks);
  scratch.parts.reserve(blocks);
  if (input_) scratch.samples.reserve(blocks * lanes_);
  scratch.batch.inputs.reserve(blocks);
  scratch.batch.deltas.reserve(blocks);
  scratch.batch.blocks.reserve(blocks);
  if (input_) {
    scratch.gradient = AlignedArray<float>(input_->weights().stride);
    if (input_->weights().half()) scratch.packed.reserve(input_->size());
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    scratch.layers.push_back(layers_[l].make_update_scratch(limits_of(l), blocks));
  }
  return scratch;
}

BlockInput Network::input_of(std::size_t l, const Block& block) const {
  BlockInput in;
  in.lanes = block.lanes;
  in.samples = block.samples();
  in.features = &block.features;
  if (l == 0 && !input_) {
    in.partial = true;
    in.columns = block.columns.ids;
    in.width = block.columns.ids.size();
    in.xt = block.columns.xt.data();
    in.x = block.columns.x.data();
    in.ldx = block.columns.ldx;
    return in;
  }
  const LayerBlock& below = block.layers[l + (input_ ? 1 : 0) - 1];
  in.partial = !below.all;
  if (in.partial) in.columns = below.set.ids;
  in.width = below.count;
  in.xt = below.out_t.data();
  in.x = below.out.data();
  in.ldx = below.ldo;
  return in;
}

void Network::maybe_drop(const LayerConfig& layer, std::size_t depth, std::uint32_t index, std::uint64_t step,
                         Block& block, LayerBlock& at) const {
  if (layer.dropout <= 0) return;
  Rng rng(config_.train.seed, Purpose::kDropout, step, std::uint64_t{index} * 64 + depth);
  apply_dropout(layer.dropout, block.samples(), block.lanes, rng, at);
}

void Network::forward_block(Block& block, std::uint32_t index, std::uint64_t step,
                            ThreadScratch& scratch) const {
  if (wide()) block.features.build(block.rows, block.lanes);
  if (input_) {
    input_->forward(block.rows, block.lanes, block.layers.front());
    maybe_drop(input_->config(), 0, index, step, block, block.layers.front());
  } else {
    block.columns.build(block.rows, block.lanes);
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const BlockInput in = input_of(l, block);
    const bool output = l + 1 == layers_.size();
    const Rng rng(config_.train.seed, Purpose::kSampling, step, std::uint64_t{index} * 64 + l);
    const std::span<const std::span<const std::uint32_t>> none;
    LayerBlock& at = block_of(l, block);
    LapClock hashing;
    layers_[l].select(in, block.rows, output ? block.labels : none, rng, scratch.layers[l], at);
    block.seconds.hashing += hashing.lap();
    layers_[l].forward(in, output, scratch.layers[l], at);
    if (!output) maybe_drop(layers_[l].config(), l + 1, index, step, block, at);
  }
}

double Network::loss(Block& block, float scale, ThreadScratch& scratch) const {
  LayerBlock& out = block.layers.back();
  const BlockTargets targets{&out.set, out.count, block.samples(), block.lanes};
  if (config_.loss.kind == LossKind::kSoftmax) {
    return softmax_loss(targets, scale, out.out_t.data(), scratch.log_norm.data());
  }
  return logistic_loss(targets, config_.loss.positive_weight, scale, out.out_t.data());
}

void Network::round_deltas(Block& block, std::uint32_t index, std::uint64_t step, float scale) const {
  LayerBlock& out = block.layers.back();
  if (!out.sparse.in_use()) return;
  const Rng rng(config_.train.seed, Purpose::kDeltas, step, index);
  const auto floor = static_cast<float>(config_.loss.delta_floor) * scale;
  out.sparse.round(floor, rng, out.count, block.samples(), block.lanes, out.out_t.data());
}

void Network::backward_block(Block& block, std::uint32_t index, ThreadScratch& scratch) {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    LayerBlock& at = block_of(l, block);
    layers_[l].bin_touched(index, at);
    if (l == 0 && !input_) return;
    const bool output = l + 1 == layers_.size();
    const float* delta_t = output ? at.out_t.data() : at.delta_t.data();
    LayerBlock& below = block.layers[l + (input_ ? 1 : 0) - 1];
    float* dx = l == 0 ? input_->delta(block.first_sample) : below.delta.data();
    layers_[l].backward_input(input_of(l, block), delta_t, scratch.layers[l], at, dx, below.ldo);
    if (l > 0) layers_[l - 1].backward_activation(block.lanes, below);
  }
  input_->backward(block.lanes, block.first_sample, block.layers.front());
  block.features_by_shard.fill(block.rows, feature_shards_);
}

void Network::train_block(Block& block, std::uint32_t index, std::size_t first_sample, std::uint64_t step,
                          float scale, ThreadScratch& scratch) {
  LapClock clock;
  block.seconds.hashing = 0.0;
  block.first_sample = first_sample;
  forward_block(block, index, step, scratch);
  block.loss = loss(block, scale, scratch);
  block.seconds.forward = clock.lap() - block.seconds.hashing;
  round_deltas(block, index, step, scale);
  backward_block(block, index, scratch);
  block.seconds.backward = clock.lap();
}

void Network::update(std::span<Block> blocks, std::uint32_t shard, std::size_t batch_samples,
                     const Optimizer& optimizer, ShardScratch& scratch) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const bool output = l + 1 == layers_.size();
    scratch.parts.clear();
    scratch.batch.inputs.clear();
    scratch.batch.deltas.clear();
    scratch.batch.blocks.clear();
    scratch.batch.samples = batch_samples;
    for (Block& block : blocks) {
      LayerBlock& at = block_of(l, block);
      scratch.batch.inputs.push_back(input_of(l, block));
      scratch.batch.blocks.push_back(&at);
      scratch.batch.deltas.push_back(output ? at.out_t.data() : at.delta_t.data());
      if (layers_[l].sampled()) scratch.parts.push_back(at.bins.shard(shard));
    }
    if (layers_[l].sampled()) scratch.groups.build(scratch.parts, layers_[l].slots());
    layers_[l].update(scratch.batch, scratch.groups, shard, shards_, optimizer, scratch.layers[l]);
  }
  if (!input_) return;
  scratch.samples.clear();
  for (const Block& block : blocks) block.features_by_shard.list(shard, block.first_sample, scratch.samples);
  scratch.groups.build(scratch.samples, input_->slots());
  input_->update(scratch.groups, shard == 0, batch_samples, optimizer, scratch.gradient.data(),
                 scratch.packed);
}

Block Network::make_inference_block(std::size_t lanes, std::size_t feature_entries) const {
  Block block;
  block.lanes = lanes;
  if (feature_scale_.active()) block.values.reserve(feature_entries);
  block.layers.resize(layers_.size() + (input_ ? 1 : 0));
  if (wide()) block.features.reserve(features_, feature_entries, lanes);
  if (input_) input_->reserve(block.layers.front(), lanes);
  if (!input_) block.columns.reserve(features_, std::min(features_, feature_entries), lanes);
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
    LayerBlock& at = block_of(l, block);
    at.ldo = kernels::spread_stride(layers_[l].size());
    at.out_t = AlignedArray<float>(layers_[l].size() * lanes);
    at.out = AlignedArray<float>(at.ldo * lanes);
  }
  return block;
}

ThreadScratch Network::make_inference_scratch(std::size_t lanes, std::size_t feature_entries) const {
  ThreadScratch scratch;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const std::size_t columns = l == 0 && !input_ ? std::min(features_, feature_entries) : 0;
    scratch.layers.push_back(layers_[l].make_scratch({lanes, columns, columns > 0, 0}));
  }
  return scratch;
}

BlockInput Network::infer_hidden(Block& block, ThreadScratch& scratch) const {
  if (wide()) block.features.build(block.rows, block.lanes);
  if (input_) {
    input_->forward(block.rows, block.lanes, block.layers.front());
  } else {
    block.columns.build(block.rows, block.lanes);
  }
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
    layers_[l].forward_all(input_of(l, block), scratch.layers[l], block_of(l, block));
  }
  return input_of(layers_.size() - 1, block);
}

void Network::save(ByteWriter& out) const {
  const std::span<const float> factors = feature_scale_.factors();
  if (feature_scale_.active()) out.put_array(factors.data(), factors.size());
  if (input_) input_->weights().save(out), input_->bias().save(out);
  for (const Layer& layer : layers_) layer.save(out);
}

void Network::load(ByteReader& in) {
  if (feature_scale_.active()) {
    std::vector<float> factors(features_);
    in.get_array(factors.data(), factors.size(), "another number of features");
    feature_scale_ = FeatureScale(std::move(factors), config_.data.normalize);
  }
  if (input_) input_->weights().load(in), input_->bias().load(in);
  for (Layer& layer : layers_) layer.load(in);
}

}  // namespace slide

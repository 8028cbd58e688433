#include "engine/network/network_training.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"
#include "engine/network/table_recall.h"

namespace slide {

namespace {

// Shards have about equal costs. Few threads have one each; more threads have several each, because all wait
// for the slowest.
constexpr std::uint32_t kFewThreads = 4, kShardsPerThread = 8, kMaxShards = 256;
// With at least this many blocks per thread, or a multiple of the threads, a task of pass() is a whole block;
// with fewer, threads share the tiles of all blocks.
constexpr std::size_t kBlocksPerThread = 4;

PartJoin::Shape join_shape(const Config& config, const NetworkShape& network, std::size_t blocks,
                           int threads) {
  return {blocks, config.train.block_size, network.input ? network.input->size : 0,
          is_normalised(config.loss.kind), threads};
}

}  // namespace

StepShape step_shape(const TrainConfig& config, int threads) {
  // Where processes share the network, update() runs half of the shards at a time.
  const auto own = static_cast<std::uint32_t>(config.shards > 1 ? 2 * threads : threads);
  return {config.batch_size, own <= kFewThreads ? own : std::min(own * kShardsPerThread, kMaxShards),
          threads};
}

std::size_t step_samples(std::size_t batch, std::size_t rows) {
  return std::min(batch, std::max<std::size_t>(1, rows));
}

NetworkTraining::NetworkTraining(const Network& network, const Dataset& train, const StepShape& shape,
                                 Cluster* cluster)
    : lanes_(network.config().train.block_size), shards_(shape.shards), bounds_(bounds_of(train, lanes_)) {
  bounds_.masks = shape.masks;
  const NetworkShape shapes =
      network_shape(network.config(), network.features(), network.parts(), network.dense());
  for (std::size_t l = 0; l < shapes.layers.size(); ++l)
    limits_.push_back(shapes.limits_of(l, network.config(), bounds_));
  const OptimizerKind kind = network.config().optimizer.kind;
  for (const Parameters* matrix : network.matrices()) optimizer_state_.matrices.emplace_back(*matrix, kind);
  if (network.output().term() != nullptr)
    optimizer_state_.wide = AlignedArray<float>(network.output().term()->weights());
  const std::size_t blocks = (shape.samples + lanes_ - 1) / lanes_, samples = blocks * lanes_;
  if (network.input()) input_.emplace(*network.input(), train, samples, shape.shards);
  for (std::size_t l = 0; l < network.layers().size(); ++l) {
    const Layer& layer = network.layers()[l];
    layers_.emplace_back(layer, limits_[l], blocks * layer.parts(), shape.shards);
  }
  if (network.parts().split())
    join_.emplace(network.parts(), join_shape(network.config(), shapes, blocks, shape.threads), cluster);
  for (std::size_t b = 0; b < blocks; ++b) {
    blocks_.push_back(make_block(network, shape.shards));
    blocks_.back().number = b;
  }
  const auto threads = static_cast<std::size_t>(shape.threads);
  const std::size_t places = blocks * network.output().parts();
  for (std::size_t t = 0; t < threads; ++t)
    thread_scratch_.push_back(make_thread_scratch(network, t == 0 ? places : 1, Layer::Use::kPasses));
  for (std::size_t t = 0; t < std::min(threads, places); ++t)
    select_scratch_.push_back(make_thread_scratch(network, 0, Layer::Use::kSelect));
  for (std::size_t t = 0; t < threads; ++t) shard_scratch_.push_back(make_shard_scratch(network, samples));
}

// A block with all memory for `lanes_` samples within bounds_: later steps do not allocate.
Block NetworkTraining::make_block(const Network& network, std::uint32_t shards) const {
  Block block;
  block.lanes = lanes_;
  block.rows.reserve(lanes_);
  network.reserve_features(bounds_.feature_entries, lanes_, block);
  block.labels.reserve(lanes_);
  if (bounds_.masks) block.masked.reserve(lanes_);
  block.layers.resize(network.layers().size() - 1 + network.output().parts());
  block.split = network.input() && network.input()->features() < network.features();
  if (block.split) {
    block.own_rows.reserve(lanes_);
    block.own_ids.reserve(bounds_.feature_entries);
  }
  if (network.input()) {
    network.input()->reserve(block.input, lanes_);
    block.features_by_shard.reserve(shards, lanes_, bounds_.feature_entries);
  }
  for (std::size_t l = 0; l < network.layers().size(); ++l) {
    for (std::size_t part = 0; part < network.layers()[l].parts(); ++part)
      network.layers()[l].reserve(block.layers[l + part], limits_[l], shards);
  }
  return block;
}

ThreadScratch NetworkTraining::make_thread_scratch(const Network& network, std::size_t blocks,
                                                   Layer::Use use) const {
  ThreadScratch scratch;
  if (use != Layer::Use::kSelect) {
    scratch.log_norm.resize(lanes_);
    scratch.ends.reserve(blocks);
    if (network.parts().split())
      scratch.sums.reserve(std::max(lanes_, network.input() ? network.input()->ldo() : 0));
  }
  for (std::size_t l = 0; l < network.layers().size(); ++l)
    scratch.layers.push_back(network.layers()[l].make_scratch(limits_[l], use));
  return scratch;
}

// For steps of `samples` samples. The groups have room for the largest layer's contributions.
NetworkTraining::ShardScratch NetworkTraining::make_shard_scratch(const Network& network,
                                                                  std::size_t samples) const {
  ShardScratch scratch;
  const std::size_t blocks = samples / lanes_ * network.output().parts();
  std::size_t contributions = input_ ? bounds_.feature_entries : 0;
  if (input_) scratch.input = input_->make_scratch(*network.input(), samples);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    scratch.layers.push_back(layers_[l].make_scratch(network.layers()[l]));
    if (network.layers()[l].sampled()) contributions = std::max(contributions, layers_[l].max_touched());
  }
  scratch.groups.reserve(contributions * blocks);
  scratch.batch.inputs.reserve(blocks);
  scratch.batch.deltas.reserve(blocks);
  scratch.batch.blocks.reserve(blocks);
  return scratch;
}

namespace {

double block_bytes(const Config& config, const NetworkShape& network, const BlockBounds& bounds,
                   std::uint32_t shards) {
  const std::size_t lanes = config.train.block_size, entries = bounds.feature_entries;
  double bytes = config.data.idf_power != 0 ? double(entries) * sizeof(float) : 0.0;
  if (config.layers.back().wide) bytes += double(BlockFeatures::bytes_of(network.features, entries, lanes));
  if (network.input) {
    bytes += InputLayer::block_bytes_of(*network.input, lanes) +
             double(ShardedFeatures::bytes_of(shards, lanes, entries));
  } else if (network.dense == 0) {
    bytes += double(FeatureColumns::bytes_of(network.features, entries, lanes));
  }
  bytes += double(DenseInput::bytes_of(network.dense, lanes));
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const LayerShape& layer = network.layers[l];
    bytes += double(layer.parts.size()) *
             Layer::block_bytes_of(layer, network.limits_of(l, config, bounds), shards);
  }
  return bytes;
}

double shard_bytes(const Config& config, const NetworkShape& network, const BlockBounds& bounds,
                   std::size_t samples) {
  const std::size_t blocks = samples / config.train.block_size * network.layers.back().parts.size();
  std::size_t contributions = network.input ? bounds.feature_entries : 0;
  double bytes = network.input ? InputTraining::scratch_bytes_of(network.input->size, config.train.weights,
                                                                 samples, network.dense)
                               : 0.0;
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const LayerShape& layer = network.layers[l];
    const BlockLimits limits = network.limits_of(l, config, bounds);
    bytes += LayerTraining::scratch_bytes_of(layer, limits, blocks);
    if (layer.sampled()) contributions = std::max(contributions, layer.active_limit(limits));
  }
  return bytes + double(RowGroups::bytes_of(contributions * blocks));
}

}  // namespace

double NetworkTraining::bytes_of(const Config& config, const NetworkShape& network, const BlockBounds& bounds,
                                 const StepShape& shape) {
  const std::size_t lanes = config.train.block_size;
  const std::size_t blocks = (shape.samples + lanes - 1) / lanes, samples = blocks * lanes;
  double bytes = double(blocks) * block_bytes(config, network, bounds, shape.shards) +
                 shape.threads * shard_bytes(config, network, bounds, samples);
  if (network.input) bytes += InputTraining::bytes_of(network.input->size, network.input_features, samples);
  if (network.parts.split())
    bytes += PartJoin::bytes_of(network.parts, join_shape(config, network, blocks, shape.threads));
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const LayerShape& layer = network.layers[l];
    const BlockLimits limits = network.limits_of(l, config, bounds);
    const auto threads = static_cast<std::size_t>(shape.threads);
    bytes += LayerTraining::bytes_of(layer, shape.shards) +
             double(threads) * Layer::scratch_bytes_of(layer, limits, Layer::Use::kPasses) +
             double(std::min(threads, blocks * layer.parts.size())) *
                 Layer::scratch_bytes_of(layer, limits, Layer::Use::kSelect);
  }
  return bytes;
}

namespace {

const float* delta_of(const Layer& layer, const LayerBlock& at) {
  return layer.output() ? at.out_t.data() : at.delta_t.data();
}

// Adds `wall` seconds to `phases`, in proportion to the time that the blocks spent on each phase.
void share_seconds(double wall, std::span<const Block> blocks, PhaseSeconds& phases) {
  PhaseSeconds sum;
  for (const Block& block : blocks) {
    sum.hashing += block.seconds.hashing;
    sum.forward += block.seconds.forward;
    sum.backward += block.seconds.backward;
  }
  const double all = sum.hashing + sum.forward + sum.backward;
  if (all <= 0) return;
  phases.hashing += wall * sum.hashing / all;
  phases.forward += wall * sum.forward / all;
  phases.backward += wall * sum.backward / all;
}

}  // namespace

// One pass in which threads share the tiles of all blocks, or a pass by one thread for each block.
void NetworkTraining::pass(const Network& network, std::size_t blocks, const StepKey& key,
                           PhaseSeconds& phases) {
  passed_ = blocks;
  samples_ = 0;
  for (const Block& block : first_blocks(blocks)) samples_ += block.samples();
  ++stamp_;
  const std::span<Block> used = std::span(blocks_).first(blocks);
  const StepView step{network, input_ ? &*input_ : nullptr, key};
  const PassScratch scratch{thread_scratch_, select_scratch_};
  const std::size_t threads = thread_scratch_.size();
  PartJoin* join = join_ ? &*join_ : nullptr;
  if (join != nullptr || (blocks % threads != 0 && blocks < kBlocksPerThread * threads)) {
    sums_ = StepPass(step, {used, scratch}, layers_, join).run(phases);
    return;
  }
  LapClock clock;
  parallel_for(blocks, static_cast<int>(threads), [&](std::size_t b, int thread) {
    StepPass alone(step, {used.subspan(b, 1), scratch.alone(static_cast<std::size_t>(thread))}, layers_,
                   nullptr);
    used[b].seconds = {};
    const StepSums sums = alone.run(used[b].seconds);
    used[b].loss = sums.loss;
    used[b].active = sums.active;
    used[b].sources = sums.sources;
  });
  share_seconds(clock.lap(), used, phases);
  sums_ = {};
  for (const Block& block : used) {
    sums_.loss += block.loss;
    sums_.active += block.active;
    sums_.sources.add(block.sources);
  }
}

StepSums NetworkTraining::sums() {
  return join_ ? join_->sum() : sums_;
}

// Collects the blocks of the last pass as layer l sees them, part by part, and updates one shard of its
// rows.
void NetworkTraining::update_layer(Network& network, std::size_t l, std::uint32_t shard,
                                   const Optimizer& optimizer, ShardScratch& scratch) {
  Layer& layer = network.layers()[l];
  LayerBatch& batch = scratch.batch;
  batch.inputs.clear();
  batch.deltas.clear();
  batch.blocks.clear();
  for (const Block& block : first_blocks(passed_)) {
    for (std::size_t part = 0; part < layer.parts(); ++part) {
      const LayerBlock& at = block.layers[l + part];
      batch.inputs.push_back(network.input_of(l, block));
      batch.blocks.push_back(&at);
      batch.deltas.push_back(delta_of(layer, at));
    }
  }
  MatrixState* state = &optimizer_state_.matrices[state_of(l)];
  const TrainedLayer trained{layer, state[0], state[1], optimizer_state_.wide.span()};
  layers_[l].update(trained, batch, shard, optimizer, scratch.groups, scratch.layers[l]);
}

void NetworkTraining::update_layers(Network& network, std::uint32_t shard, const Optimizer& optimizer,
                                    int thread) {
  ShardScratch& scratch = shard_scratch_[static_cast<std::size_t>(thread)];
  scratch.batch.samples = samples_;
  scratch.batch.stamp = stamp_;
  for (std::size_t l = 0; l < layers_.size(); ++l) update_layer(network, l, shard, optimizer, scratch);
}

void NetworkTraining::update_input(Network& network, std::uint32_t shard, const Optimizer& optimizer,
                                   int thread) {
  ShardScratch& scratch = shard_scratch_[static_cast<std::size_t>(thread)];
  InputLayer& input = *network.input();
  const TrainedInput trained{{input.weights(), optimizer_state_.matrices[0]},
                             {input.bias(), optimizer_state_.matrices[1]}};
  input_->update(trained, {first_blocks(passed_), samples_, stamp_}, shard, optimizer, scratch.groups,
                 scratch.input);
}

// Gradient of the first layer's activations for a group of blocks: widens the sums over all parts to fp32 and
// takes them through the activation.
void NetworkTraining::join_gradient(const Network& network, PartJoin::Group& group, int threads) {
  const InputLayer& layer = *network.input();
  group.gradient.finish();
  const std::size_t slices = slices_of(layer.size(), kSliceColumns);
  parallel_for(group.used(passed_) * slices, threads, [&](std::size_t task, int) {
    const std::size_t b = task / slices;
    const Block& block = blocks_[group.blocks.first + b];
    const Slice units = slice_of(task % slices, layer.size(), kSliceColumns);
    float* dx = input_->delta(block.first_sample()) + units.first;
    for (std::size_t s = 0; s < block.lanes; ++s, dx += layer.ldo()) {
      std::fill_n(dx, units.count, 0.0f);
      if (s >= block.samples()) continue;
      kernels::active().widen(group.gradient.row(b, s) + units.first / 2, units.count, dx);
    }
    input_->backward(layer, {units, {0, block.lanes}}, block);
  });
}

void NetworkTraining::update(Network& network, const Optimizer& optimizer, int threads) {
  const bool joined = join_ && input_;
  // Tasks per shard: layers and input layer apart, unless each thread has one shard (the same in every step).
  const std::size_t each = input_ && !joined && shards_ > static_cast<std::uint32_t>(threads) ? 2 : 1;
  const auto update_shards = [&](std::uint32_t first, std::uint32_t end) {
    parallel_for((end - first) * each, threads, [&](std::size_t i, int thread) {
      const std::uint32_t shard = first + static_cast<std::uint32_t>(i / each);
      if (i % each == 0) update_layers(network, shard, optimizer, thread);
      if ((each == 1 || i % each == 1) && input_ && !joined) update_input(network, shard, optimizer, thread);
    });
  };
  if (!joined) return update_shards(0, shards_);
  // reduce() waits for other processes: update rows first.
  const std::span<PartJoin::Group> groups = join_->groups(passed_);
  for (PartJoin::Group& group : groups.first(groups.size() - 1)) group.gradient.reduce(threads);
  update_shards(0, shards_ / 2);
  groups.back().gradient.reduce(threads);
  update_shards(shards_ / 2, shards_);
  for (PartJoin::Group& group : groups) join_gradient(network, group, threads);
  parallel_for(shards_, threads, [&](std::size_t shard, int thread) {
    update_input(network, static_cast<std::uint32_t>(shard), optimizer, thread);
  });
}

std::optional<double> NetworkTraining::table_recall(const Network& network) const {
  const Layer& output = network.output();
  if (output.index() == nullptr || passed_ == 0) return std::nullopt;
  const Block& block = blocks_.front();
  const BlockInput in = network.input_of(network.layers().size() - 1, block);
  if (in.partial || in.samples == 0) return std::nullopt;
  return slide::table_recall(output, in, network.config().train.seed);
}

void NetworkTraining::rehash(Network& network, std::size_t l, int threads) {
  layers_[l].rehash(network.layers()[l], threads);
}

void NetworkTraining::rebuild_index(Network& network, std::size_t l, std::uint64_t generation, int threads) {
  layers_[l].rebuild_index(network.layers()[l], network.hash_seed(l), generation, threads);
}

void NetworkTraining::load_wide_sums(ByteReader& in, std::uint64_t before) {
  const auto all = in.get_count(sizeof(float), "another linear term");
  if (before > all || all - before < optimizer_state_.wide.size()) in.refuse("another linear term");
  in.skip(before * sizeof(float));
  get_finite_rows(in, "optimizer state of the wide weights", 0, 1, optimizer_state_.wide.span());
  in.skip((all - before - optimizer_state_.wide.size()) * sizeof(float));
}

void NetworkTraining::save(const Network& network, ByteWriter& out) const {
  if (network.transform() != nullptr) network.transform()->save(out);
  const auto matrices = network.matrices();
  const auto save_pair = [&](std::size_t at) {
    for (const std::size_t m : {at, at + 1}) save_matrix(*matrices[m], optimizer_state_.matrices[m], out);
  };
  if (input_) save_pair(0);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = network.layers()[l];
    save_pair(state_of(l));
    if (layer.term() != nullptr) {
      layer.term()->save(out);
      out.put(out.shares_of(optimizer_state_.wide.size()).all);
      out.put_share(optimizer_state_.wide);
    }
    if (layer.index() != nullptr) layers_[l].save_tables(layer, out);
  }
}

void NetworkTraining::load(ByteReader& in, Network& network) {
  if (network.transform() != nullptr) network.set_transform(network.transform()->loaded(in));
  const auto matrices = network.matrices();
  const auto load_pair = [&](std::size_t at) {
    for (const std::size_t m : {at, at + 1})
      load_matrix(in, Network::matrix_name(m), *matrices[m], optimizer_state_.matrices[m]);
  };
  if (input_) load_pair(0);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = network.layers()[l];
    load_pair(state_of(l));
    if (layer.term() != nullptr) {
      const std::size_t first = network.parts().own_neurons().first;
      load_wide_sums(in, layer.term()->load(in, network.sample_features(), first, network.labels()));
    }
    if (layer.index() != nullptr) layers_[l].load_tables(in, layer);
  }
}

}  // namespace slide

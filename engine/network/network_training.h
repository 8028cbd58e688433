// Training state of a network besides its parameters (optimizer state, blocks, working memory), and the
// phases of a step: pass() (A), update() (B), rehash() (C). Built for one network and one data set.
//
// pass() reads the network; update() writes its rows, each by the task of one shard. Calls run their tasks on
// several threads; make one call at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/byte_io.h"
#include "engine/network/block.h"
#include "engine/network/block_bounds.h"
#include "engine/network/input_training.h"
#include "engine/network/layer_training.h"
#include "engine/network/network.h"
#include "engine/network/optimizer.h"
#include "engine/network/optimizer_state.h"
#include "engine/network/step_pass.h"

namespace slide {

// How a step is divided.
struct StepShape {
  std::size_t samples = 0;   // of a full batch
  std::uint32_t shards = 1;  // of rows, one writer each
  int threads = 1;
  bool masks = false;  // samples mask neurons of the output layer (Block::masked)
};

// The step shape of a run. Only the number of shards depends on the threads, which changes no result: a row
// gets the same update from whichever shard owns it.
StepShape step_shape(const TrainConfig& config, int threads);
// Samples that a step of at most `batch` has memory for, of `rows` samples in all.
std::size_t step_samples(std::size_t batch, std::size_t rows);

class NetworkTraining {
 public:
  // Allocates all memory for steps of this shape on `train`; a few buffers grow in the first steps. The
  // network must have its tables. `cluster`: the processes that hold the network's parts, or nullptr if this
  // process holds all. Throws InputError for a step that is too large.
  NetworkTraining(const Network& network, const Dataset& train, const StepShape& shape,
                  Cluster* cluster = nullptr);

  // The blocks of a full batch. Block i is for samples [i * block_size, (i + 1) * block_size) of the batch.
  std::size_t blocks() const { return blocks_.size(); }
  Block& block(std::size_t i) { return blocks_[i]; }
  std::span<const Block> first_blocks(std::size_t count) const { return std::span(blocks_).first(count); }
  // Memory in bytes, without the optimizer state, for blocks within `bounds`.
  static double bytes_of(const Config& config, const NetworkShape& network, const BlockBounds& bounds,
                         const StepShape& shape);
  std::uint32_t shards() const { return shards_; }
  const BlockBounds& bounds() const { return bounds_; }

  // Phase A: forward, loss and backward of the first `blocks` blocks, whose rows and labels the caller
  // filled. Writes gradients and touched rows into the blocks. Adds wall time to `phases`. Collective where
  // processes share the network.
  void pass(const Network& network, std::size_t blocks, const StepKey& key, PhaseSeconds& phases);
  // Sums over the samples of the last pass(). Call once per pass(), best after update(): where processes
  // share the network, it waits for their sums.
  StepSums sums();

  // Sets StepSums::stop of the next pass() in all processes that share the network; no effect in a single
  // one.
  void want_stop() {
    if (join_) join_->want_stop();
  }

  // Phase B: gradients and new weights of the rows that the last pass() touched; call once per pass(). Where
  // processes share the network, their sums for the first layer arrive while the other layers are updated.
  void update(Network& network, const Optimizer& optimizer, int threads);

  // Recall of the output layer's tables for a few samples of the last pass() (table_recall.h); nullopt
  // without tables or above a sampled layer.
  std::optional<double> table_recall(const Network& network) const;

  // Phase C, layer l: moves changed rows to their new buckets; or draws the hash functions of `generation`
  // and files all rows.
  void rehash(Network& network, std::size_t l, int threads);
  void rebuild_index(Network& network, std::size_t l, std::uint64_t generation, int threads);

  const OptimizerState& optimizer_state() const& { return optimizer_state_; }
  // Replaces the optimizer state by an earlier one of the same network.
  void set_optimizer_state(OptimizerState state) { optimizer_state_ = std::move(state); }
  OptimizerState optimizer_state() && { return std::move(optimizer_state_); }

  // All state that later steps depend on, with parameters and tables of the network. load() throws InputError
  // for content of another shape.
  void save(const Network& network, ByteWriter& out) const;
  void load(ByteReader& in, Network& network);

 private:
  void load_wide_sums(ByteReader& in, std::uint64_t before);
  // Working memory of one thread in phase B.
  struct ShardScratch {
    RowGroups groups;
    InputTraining::Scratch input;
    std::vector<UpdateScratch> layers;
    LayerBatch batch;
  };

  Block make_block(const Network& network, std::uint32_t shards) const;
  ThreadScratch make_thread_scratch(const Network& network, std::size_t blocks, Layer::Use use) const;
  ShardScratch make_shard_scratch(const Network& network, std::size_t samples) const;

  void update_layers(Network& network, std::uint32_t shard, const Optimizer& optimizer, int thread);
  void update_input(Network& network, std::uint32_t shard, const Optimizer& optimizer, int thread);
  void join_gradient(const Network& network, PartJoin::Group& group, int threads);
  void update_layer(Network& network, std::size_t l, std::uint32_t shard, const Optimizer& optimizer,
                    ShardScratch& scratch);
  // Index in optimizer_state_.matrices of the weights of layer l; its biases follow.
  std::size_t state_of(std::size_t l) const { return (input_ ? 2 : 0) + 2 * l; }

  std::size_t lanes_;
  std::uint32_t shards_;
  std::size_t passed_ = 0;   // of the last pass(): blocks,
  std::size_t samples_ = 0;  // samples,
  std::uint32_t stamp_ = 0;  // number, from 1,
  StepSums sums_;            // and sums, unless processes share the network
  BlockBounds bounds_;
  std::vector<BlockLimits> limits_;  // by layer
  OptimizerState optimizer_state_;
  std::optional<InputTraining> input_;
  std::optional<PartJoin> join_;  // where the network is in parts
  std::vector<LayerTraining> layers_;
  std::vector<Block> blocks_;
  std::vector<ThreadScratch> thread_scratch_;  // one for each thread
  std::vector<ThreadScratch> select_scratch_;  // PassScratch::select
  std::vector<ShardScratch> shard_scratch_;
};

}  // namespace slide

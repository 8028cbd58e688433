// What a network needs to be trained, apart from its parameters, and the two phases of a step: made for a
// network and its data in one call, and gone when training ends.
//
// Phase A, pass(), takes the network const; phase B, update(), writes rows, each in the task of one shard.
// Every call has its own threads; one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "datasets/dataset.h"
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
  int threads = 1;           // that do its tasks
  bool masks = false;        // samples mask neurons of the output layer (Block::left_out)
};

// That of a run. The samples of a step do not depend on the threads: a larger step wants another learning
// rate, and the model would be another one. Shards do; who writes a row changes nothing of what is written.
StepShape step_shape(const TrainConfig& config, int threads);
// Samples that a step of at most `batch` has memory for, of `rows` samples in all.
std::size_t step_samples(std::size_t batch, std::size_t rows);

class NetworkTraining {
 public:
  // Everything that steps of that shape on `train` need: nothing is allocated later, but for a few buffers
  // that grow to their size in the first steps. The network must have its tables. Throws InputError when a
  // step is too large.
  // `cluster`: of the processes that hold the network's parts; nullptr where this one holds all.
  NetworkTraining(const Network& network, const Dataset& train, const StepShape& shape,
                  Cluster* cluster = nullptr);

  // Blocks of a full batch; the one that holds the samples [i * block_size, (i + 1) * block_size) of it.
  std::size_t blocks() const { return blocks_.size(); }
  Block& block(std::size_t i) { return blocks_[i]; }
  std::span<const Block> first_blocks(std::size_t count) const { return std::span(blocks_).first(count); }
  // Bytes of a NetworkTraining beside the optimizer's state: of a step of that shape with blocks within
  // `bounds`.
  static double bytes_of(const Config& config, const NetworkShape& network, const BlockBounds& bounds,
                         const StepShape& shape);
  std::uint32_t shards() const { return shards_; }
  const BlockBounds& bounds() const { return bounds_; }

  // Phase A: forward, loss and backward of the first `blocks` blocks, whose rows and labels are filled;
  // leaves deltas and touched rows in them. Adds seconds to `phases`. Where processes share the network, all
  // call it together.
  void pass(const Network& network, std::size_t blocks, const StepKey& key, PhaseSeconds& phases);
  // Those of the last pass(), once, and soonest after update(): where processes share the network, they are
  // under way meanwhile.
  StepSums sums();

  // Has the sums of the next pass() say that this process wants to stop, where others share the network.
  void want_stop() {
    if (join_) join_->want_stop();
  }

  // Phase B: gradients and new weights of the rows that the blocks of the last pass() touch, after which it
  // is called once; its shards are tasks for `threads` threads. What other processes add to the gradient of
  // the first layer comes in while the layers behind it are updated.
  void update(Network& network, const Optimizer& optimizer, int threads);

  // Which share of the neurons that fire most for a few samples of the last pass() the output layer's tables
  // find (table_recall.h); nothing without tables, or behind a sampled layer.
  std::optional<double> table_recall(const Network& network) const;

  // Phase C: the hash tables of layer l follow the weights.
  void rehash(Network& network, std::size_t l, int threads);
  void rebuild_index(Network& network, std::size_t l, std::uint64_t generation, int threads);

  const OptimizerState& optimizer_state() const& { return optimizer_state_; }
  // One that the optimizer had of this network before.
  void set_optimizer_state(OptimizerState state) { optimizer_state_ = std::move(state); }
  OptimizerState optimizer_state() && { return std::move(optimizer_state_); }

  // Everything that later steps depend on, parameters and tables of the network included.
  void save(const Network& network, ByteWriter& out) const;
  void load(ByteReader& in, Network& network);

 private:
  void load_wide_sums(ByteReader& in, std::uint64_t before);
  // Of a thread that updates shards.
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
  // What the optimizer remembers of the weights of layer l; of its biases behind it.
  std::size_t state_of(std::size_t l) const { return (input_ ? 2 : 0) + 2 * l; }

  std::size_t lanes_;
  std::uint32_t shards_;
  std::size_t passed_ = 0;   // blocks of the last pass,
  std::size_t samples_ = 0;  // what they hold,
  std::uint32_t stamp_ = 0;  // and its number
  StepSums sums_;            // where no process shares it
  BlockBounds bounds_;
  std::vector<BlockLimits> limits_;  // by layer
  OptimizerState optimizer_state_;
  std::optional<InputTraining> input_;
  std::optional<PartJoin> join_;  // where the network is in parts
  std::vector<LayerTraining> layers_;
  std::vector<Block> blocks_;
  std::vector<ThreadScratch> thread_scratch_;  // one for each thread
  std::vector<ThreadScratch> chosen_scratch_;  // PassScratch::chosen
  std::vector<ShardScratch> shard_scratch_;
};

}  // namespace slide

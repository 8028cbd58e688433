// What a network needs to be trained, apart from its parameters, and the two phases of a step: made for a
// network and its data in one call, and gone when training ends.
//
// Phase A, train_block(), takes the network const and may run on different blocks at once, each on a thread
// of its own number; phase B, update(), writes the rows of its shard and may run on different shards at once;
// everything else runs alone.
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

namespace slide {

// How a step is divided.
struct StepShape {
  std::size_t samples = 0;   // of a full batch
  std::uint32_t shards = 1;  // of rows, one writer each
  int threads = 1;           // that train blocks
};

// That of a run. The samples in a step do not depend on the threads: a larger step wants another learning
// rate, and the model would be another one. Shards are as many as threads.
StepShape step_shape(const TrainConfig& config, int threads);

class NetworkTraining {
 public:
  // Everything that steps of that shape on `train` need: nothing is allocated later, but for a few buffers
  // that grow to their size in the first steps. The network must have its tables. Throws InputError when a
  // step is too large.
  NetworkTraining(const Network& network, const Dataset& train, const StepShape& shape);

  // Blocks of a full batch; the one that holds the samples [i * block_size, (i + 1) * block_size) of it.
  std::size_t blocks() const { return blocks_.size(); }
  Block& block(std::size_t i) { return blocks_[i]; }
  std::span<const Block> first_blocks(std::size_t count) const { return std::span(blocks_).first(count); }
  // Bytes of a NetworkTraining beside the optimizer's state: of a step of that shape with blocks within
  // `bounds`.
  static double bytes_of(const Config& config, const NetworkShape& network, const BlockBounds& bounds,
                         const StepShape& shape);
  std::uint32_t shards() const { return static_cast<std::uint32_t>(shard_scratch_.size()); }

  // A block's part of a step.
  struct BlockTask {
    std::size_t index;   // of the block
    std::uint64_t step;  // from 0, keys the random numbers
    float scale;         // 1 / samples in the batch
  };
  // Phase A: forward, loss and backward of a block whose rows and labels are filled; leaves deltas and
  // touched rows in the block.
  void train_block(const Network& network, const BlockTask& task, int thread);

  // Phase B: gradients and new weights of the rows of one shard, from the first `blocks` blocks of the batch,
  // which hold `samples` samples.
  void update(Network& network, std::size_t blocks, std::size_t samples, std::uint32_t shard,
              const Optimizer& optimizer);

  // Phase C: the hash tables of layer l follow the weights.
  void rehash(Network& network, std::size_t l, int threads);
  void rebuild_index(Network& network, std::size_t l, std::uint64_t generation, int threads);

  const OptimizerState& optimizer_state() const& { return optimizer_state_; }
  OptimizerState optimizer_state() && { return std::move(optimizer_state_); }

  // Everything that later steps depend on, parameters and tables of the network included.
  void save(const Network& network, ByteWriter& out) const;
  void load(ByteReader& in, Network& network);

 private:
  struct ShardScratch {
    RowGroups groups;
    InputTraining::Scratch input;
    std::vector<UpdateScratch> layers;
    LayerBatch batch;
  };

  Block make_block(const Network& network, std::uint32_t shards) const;
  ThreadScratch make_thread_scratch(const Network& network) const;
  ShardScratch make_shard_scratch(const Network& network, std::size_t samples) const;

  void forward(const Network& network, const BlockTask& task, ThreadScratch& scratch);
  void backward(const Network& network, const BlockTask& task, ThreadScratch& scratch);
  void update_layer(Network& network, std::size_t l, std::span<const Block> blocks, std::uint32_t shard,
                    const Optimizer& optimizer, ShardScratch& scratch);
  // What the optimizer remembers of the weights of layer l; of its biases behind it.
  std::size_t state_of(std::size_t l) const { return (input_ ? 2 : 0) + 2 * l; }

  std::size_t lanes_;
  BlockBounds bounds_;
  std::vector<BlockLimits> limits_;  // by layer
  OptimizerState optimizer_state_;
  std::optional<InputTraining> input_;
  std::vector<LayerTraining> layers_;
  std::vector<Block> blocks_;
  std::vector<ThreadScratch> thread_scratch_;
  std::vector<ShardScratch> shard_scratch_;
};

}  // namespace slide

// Training state of a layer stored by neuron: rows that a step touches, and rows that wait for a rehash.
// Built for one layer and one shape of batches; allocates nothing later.
//
// "Delta" is the gradient of the loss by a neuron's logit or sum. Thread safety: list_touched() may run for
// different blocks, update() for different shards at the same time; call other functions from one thread at a
// time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"
#include "engine/network/block.h"
#include "engine/network/delta_places.h"
#include "engine/network/layer.h"
#include "engine/network/optimizer.h"
#include "engine/network/row_groups.h"
#include "lsh/stale_rows.h"

namespace slide {

// A batch as one layer sees it, by block: input for the update of any shard.
struct LayerBatch {
  std::vector<BlockInput> inputs;
  std::vector<const float*> deltas;  // [active x lanes] each
  std::vector<const LayerBlock*> blocks;
  std::size_t samples = 0;  // of the batch
  std::uint32_t stamp = 0;  // number of the step, from 1
};

// Working memory of one thread in one layer's update.
struct UpdateScratch {
  struct Part {  // contribution of one block to the gradient of one row
    const float* delta;
    std::uint32_t block, row;
  };
  AlignedArray<float> gradient;  // [rows updated together x stride]
  std::size_t stride = 0;
  std::vector<float> bias_gradient;
  std::vector<Part> parts;
  std::vector<std::uint32_t> ends;   // [blocks + 1]: ends of the blocks in `deltas` and `gradients`
  std::vector<const float*> deltas;  // `parts` in order of blocks: the delta,
  std::vector<float*> gradients;     // and the row of `gradient` to add to
  PackedRow packed;
  std::vector<float> term_gradients;
  std::vector<std::uint32_t> sources;                 // DeltaPlaces of a row of a dense layer, by block
  std::vector<std::span<const Contribution>> listed;  // touched rows of the shard, by block
};

// A layer's parameters and their optimizer state, for an update.
struct TrainedLayer {
  Layer& layer;
  MatrixState& weights;
  MatrixState& bias;
  std::span<float> term_sums;  // Adagrad accumulators of the term, by weight; empty without a term
};

class LayerTraining {
 public:
  // For batches of up to `blocks` blocks within `limits`, and rows divided among `shards` shards. In a layer
  // of p parts, a block counts p times. Throws InputError for a batch that is too large (delta_places.h).
  LayerTraining(const Layer& layer, const BlockLimits& limits, std::size_t blocks, std::uint32_t shards);

  UpdateScratch make_scratch(const Layer& layer) const;
  // Max number of rows that one block touches.
  std::size_t max_touched() const { return active_limit_; }

  // Phase A: lists in block.bins, by shard, the rows with a nonzero delta in block number `block_index` of
  // the batch. No effect in a dense layer, where all rows count as touched.
  void list_touched(std::size_t block_index, LayerBlock& block) const;

  // Phase B: computes the gradients of one shard's rows and updates them: the touched rows (sampled layer),
  // or the shard's range of rows (dense layer). `groups`: working memory.
  void update(const TrainedLayer& trained, const LayerBatch& batch, std::uint32_t shard,
              const Optimizer& optimizer, RowGroups& groups, UpdateScratch& scratch);

  // Phase C: moves changed rows to their new buckets, longest waiting first: hash.rehash_share times the
  // number of row updates since the last rehash. So the cost depends on the updates, not on the size of the
  // layer. Moves all changed rows where the weights were all 0 at the last rehash or rebuild.
  void rehash(Layer& layer, int threads);
  void rebuild_index(Layer& layer, std::uint64_t seed, std::uint64_t generation, int threads);

  // Hash tables of all parts and their queues of rows that wait for a rehash, for checkpoints; for layers
  // with tables. load_tables() throws InputError for tables of another shape.
  void save_tables(const Layer& layer, ByteWriter& out) const;
  void load_tables(ByteReader& in, Layer& layer);

  // Memory in bytes: of a LayerTraining, and of its make_scratch().
  static double bytes_of(const LayerShape& shape, std::uint32_t shards);
  static double scratch_bytes_of(const LayerShape& shape, const BlockLimits& limits, std::size_t blocks);

 private:
  std::size_t active_limit_;
  std::size_t columns_limit_;  // max columns of a row that one block updates; 0 = all
  std::size_t blocks_;
  std::uint32_t shards_;
  DeltaPlaces places_;
  AlignedArray<std::uint64_t> slots_;  // [neurons] row directory of RowGroups; empty for a dense layer
  std::vector<StaleRows> stale_rows_;  // by part; empty without tables
};

}  // namespace slide

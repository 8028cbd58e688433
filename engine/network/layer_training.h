// What a layer stored by neuron needs to be trained, apart from its parameters: where the deltas of a batch
// lie, which rows a step touches, and which of them the hash tables have not followed yet. Made for a layer
// and a shape of batches at once.
//
// list_touched() may run on many blocks at once; update() on different shards; the rest alone.
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

// A layer's part of a batch: what a shard needs to update its rows.
struct LayerBatch {
  std::vector<BlockInput> inputs;         // one a block
  std::vector<const float*> deltas;       // one a block, [count x lanes]
  std::vector<const LayerBlock*> blocks;  // this layer's part of each
  std::size_t samples = 0;                // in the batch
  std::uint32_t stamp = 0;                // of its step, from 1
};

// Working memory of one thread in one layer's update.
struct UpdateScratch {
  struct Part {  // what one block adds to the gradient of one of the rows updated together
    const float* delta;
    std::uint32_t block, row;
  };
  AlignedArray<float> gradient;  // [rows updated together x stride]
  std::size_t stride = 0;
  std::vector<float> bias_gradient;
  std::vector<Part> parts;
  std::vector<std::uint32_t> ends;  // of the blocks in the two below
  std::vector<const float*> deltas;
  std::vector<float*> gradients;
  PackedRow packed;
  std::vector<float> term_gradients;
  std::vector<std::uint32_t> sources;                 // of a dense row: its place in every block
  std::vector<std::span<const Contribution>> listed;  // by block: rows of the shard
};

// The parameters of a layer while a shard updates them, with what the optimizer remembers of them.
struct TrainedLayer {
  Layer& layer;
  MatrixState& weights;
  MatrixState& bias;
  std::span<float> term_sums;  // sums of squares of the term, where there is one
};

class LayerTraining {
 public:
  // For batches of up to `blocks` blocks within `limits`, rows owned by `shards` shards; where the layer has
  // several parts, each of a block's counts as a block. Throws InputError when a batch would be too large
  // (delta_places.h).
  LayerTraining(const Layer& layer, const BlockLimits& limits, std::size_t blocks, std::uint32_t shards);

  UpdateScratch make_scratch(const Layer& layer) const;
  // Most contributions of one block to the rows of the layer.
  std::size_t most_touched() const { return active_limit_; }

  // Phase A: lists the rows of a sampled layer that block number `block_index` of the batch touches, those
  // with a delta that is not 0, in block.bins.
  void list_touched(std::size_t block_index, LayerBlock& block) const;

  // Phase B: gradient and update of one shard's rows: those listed (sampled) or every shards-th run (dense).
  // `groups`: working memory.
  void update(const TrainedLayer& trained, const LayerBatch& batch, std::uint32_t shard,
              const Optimizer& optimizer, RowGroups& groups, UpdateScratch& scratch);

  // Phase C: the hash tables follow the weights. Files changed rows again, those that wait longest first: as
  // many as hash.rehash_share of the row updates since the last rehash, so that the cost is the steps' and
  // not the layer's. Where the weights were all 0 before, all changed rows are.
  void rehash(Layer& layer, int threads);
  void rebuild_index(Layer& layer, std::uint64_t seed, std::uint64_t generation, int threads);

  // Rows that wait for a rehash, where the layer has tables.
  void save(std::size_t part, ByteWriter& out) const { waiting_[part].save(out); }
  void load(std::size_t part, ByteReader& in) { waiting_[part].load(in); }

  // Of a LayerTraining of a layer of that shape, and of its make_scratch().
  static double bytes_of(const LayerShape& shape, std::uint32_t shards);
  static double scratch_bytes_of(const LayerShape& shape, const BlockLimits& limits, std::size_t blocks);

 private:
  std::size_t active_limit_;
  std::size_t columns_limit_;  // columns of a row that one block may bring; 0 = all
  std::size_t blocks_;
  std::uint32_t shards_;
  DeltaPlaces places_;
  AlignedArray<std::uint64_t> slots_;  // row directory of RowGroups, of a sampled layer
  std::vector<StaleRows> waiting_;     // for a rehash, by part of a layer with tables
};

}  // namespace slide

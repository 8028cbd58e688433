// Training state of the input layer: deltas of a batch, and the division of features among shards. Built for
// one layer and one shape of batches; allocates nothing later.
//
// Thread safety: list_touched() and backward() may run for different tiles at the same time, update() for
// different shards; calls of different functions may not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/network/block.h"
#include "engine/network/feature_shards.h"
#include "engine/network/input_layer.h"
#include "engine/network/optimizer.h"
#include "engine/network/row_groups.h"

namespace slide {

// The input layer's parameters and their optimizer state, for an update.
struct TrainedInput {
  TrainedMatrix weights;
  TrainedMatrix bias;
};

class InputTraining {
 public:
  // For batches of up to `samples` samples, a multiple of the lanes of a block. Divides the features among
  // `shards` shards of about equal cost on `train` (FeatureShards).
  InputTraining(const InputLayer& layer, const Dataset& train, std::size_t samples, std::uint32_t shards);

  const FeatureShards& shards() const { return shards_; }

  // Delta [lanes x ldo] of the block that begins with sample `first_sample` of the batch: d loss / d h,
  // written by the layer above; after backward() d loss / d pre-activation.
  float* delta(std::size_t first_sample) { return deltas_.data() + first_sample * ldo_; }

  // Phase A: lists the features of a slice of samples by shard, in block.features_by_shard.
  void list_touched(Block& block, std::size_t slice) const {
    block.features_by_shard.fill(block.entered(), slice, shards_);
  }
  // Phase A: takes the deltas of the units and samples of `cell` through dropout and activation.
  void backward(const InputLayer& layer, const SliceCell& cell, const Block& block);

  // Working memory of one thread.
  struct Scratch {
    std::vector<SamplePart> parts;
    AlignedArray<float> gradient;     // of one row [size]; of dense features [rows updated together x stride]
    std::vector<const float*> dense;  // dense features updated together: values in a slice of samples,
    std::vector<float*> gradients;    // and rows of `gradient`
    PackedRow packed;
  };
  Scratch make_scratch(const InputLayer& layer, std::size_t samples) const;

  // The blocks of a step.
  struct Batch {
    std::span<const Block> blocks;
    std::size_t samples;  // of all blocks
    std::uint32_t stamp;  // number of the step, from 1
  };
  // Phase B: computes the gradients of one shard's rows and updates them; shard 0 also updates the bias.
  // `groups`: working memory.
  void update(const TrainedInput& trained, const Batch& batch, std::uint32_t shard,
              const Optimizer& optimizer, RowGroups& groups, Scratch& scratch);

  // Memory in bytes, for a layer of `size` units: of an InputTraining, and of its make_scratch().
  static double bytes_of(std::size_t size, std::size_t features, std::size_t samples);
  static double scratch_bytes_of(std::size_t size, Precision precision, std::size_t samples,
                                 std::size_t dense);

 private:
  void update_dense(const TrainedInput& trained, const Batch& batch, std::uint32_t shard,
                    const Optimizer& optimizer, Scratch& scratch) const;
  struct DenseShape {
    std::size_t rows, size;
  };
  void sum_dense(const Batch& batch, std::size_t first, const DenseShape& shape, Scratch& scratch) const;

  std::size_t ldo_;
  Slice dense_;  // rows of dense features
  FeatureShards shards_;
  AlignedArray<float> deltas_;         // [samples x ldo]
  AlignedArray<std::uint64_t> slots_;  // row directory of RowGroups
};

}  // namespace slide

// What the input layer needs to be trained, apart from its parameters: the deltas of a batch, the row
// directory, and who owns which features. Made for a layer and a shape of batches at once.
//
// backward() may run on different units or samples of blocks at once, list_touched() on different slices of
// blocks, update() on different shards, but not one beside the other.
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

// The input layer while a shard updates it, with what the optimizer remembers of it.
struct TrainedInput {
  TrainedMatrix weights;
  TrainedMatrix bias;
};

class InputTraining {
 public:
  // For batches of up to `samples` samples, a multiple of the lanes of a block.
  InputTraining(const InputLayer& layer, const Dataset& train, std::size_t samples, std::uint32_t shards);

  const FeatureShards& shards() const { return shards_; }

  // Where the layer above writes d loss / d output of the block whose first sample is `first_sample` of the
  // batch: [lanes x ldo], sample-major.
  float* delta(std::size_t first_sample) { return deltas_.data() + first_sample * ldo_; }

  // Phase A: lists the features of a slice of a block's samples by shard.
  void list_touched(Block& block, std::size_t slice) const {
    block.features_by_shard.fill(block.entered(), slice, shards_);
  }
  // Phase A: takes the deltas of some units and samples of a block through the activation.
  void backward(const InputLayer& layer, const SliceCell& cell, const Block& block);

  // Working memory of one thread.
  struct Scratch {
    std::vector<SamplePart> parts;
    AlignedArray<float> gradient;     // [size], or of dense rows [updated together x stride]
    std::vector<const float*> dense;  // of dense rows updated together, their values in a slice of samples,
    std::vector<float*> gradients;    // and their gradients
    PackedRow packed;
  };
  Scratch make_scratch(const InputLayer& layer, std::size_t samples) const;

  // The blocks of a step.
  struct Batch {
    std::span<const Block> blocks;
    std::size_t samples;  // in them
    std::uint32_t stamp;  // of the step, from 1
  };
  // Phase B: gradient and update of the features of one shard; shard 0 also updates the bias from all
  // samples. `groups`: working memory.
  void update(const TrainedInput& trained, const Batch& batch, std::uint32_t shard,
              const Optimizer& optimizer, RowGroups& groups, Scratch& scratch);

  // Of an InputTraining of a layer of `size` units, and of its make_scratch().
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

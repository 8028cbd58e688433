// A block of samples on its way through the network: its inputs, and for each layer the active neurons, their
// activations and deltas (gradients of the loss). Memory is allocated before the first step.
//
// Two layouts: unit-major [units x lanes] for products with weight rows, sample-major [lanes x units] for
// weight gradients (engine/kernels/kernels.h). A lane is the place of one sample. Not synchronised: tiles of
// a pass write disjoint ranges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/base/phases.h"
#include "engine/network/active_set.h"
#include "engine/network/block_features.h"
#include "engine/network/dense_input.h"
#include "engine/network/feature_shards.h"
#include "engine/network/loss.h"
#include "engine/network/output_term.h"
#include "engine/network/row_groups.h"
#include "engine/network/slice.h"
#include "engine/network/sparse_deltas.h"

namespace slide {

// Input of a layer for one block, a view: values of the units below, which are neurons or features, in both
// layouts.
struct BlockInput {
  bool partial = false;                    // only the units in `columns` are active; else units 0..width-1
  std::span<const std::uint32_t> columns;  // if partial: ids of the units; features ascend
  std::size_t width = 0;
  const float* xt = nullptr;  // [width x lanes]
  const float* x = nullptr;   // [lanes x ldx]
  std::size_t ldx = 0;
  const BlockFeatures* features = nullptr;  // features of the samples, for a term
  std::size_t lanes = 0;
  std::size_t samples = 0;  // lanes in use; the others are spare
};

// One layer's part of a block.
struct LayerBlock {
  ActiveSet set;    // sampled layer: active neurons; output layer: positions of labels
  bool all = true;  // all neurons of the part are active: position i is neuron first + i
  std::size_t first = 0;
  std::size_t count = 0;      // active neurons
  AlignedArray<float> out_t;  // [count x lanes] activations; output layer: logits, then deltas
  AlignedArray<float> out;    // [lanes x ldo] activations, hidden layers
  std::size_t ldo = 0;
  AlignedArray<float> delta;    // [lanes x ldo] hidden layers stored by neuron
  AlignedArray<float> delta_t;  // [count x lanes] `delta`, unit-major
  AlignedArray<float> mask;     // [lanes x ldo] dropout factors, 0 or 1/(1-p); empty without dropout
  std::vector<TermHits> hits;   // output layer with a term, by slice of active neurons
  // Output layer:
  TargetPlaces targets;        // labels, for a local loss
  TargetPlaces masked;         // masked neurons
  std::vector<double> losses;  // by slice of active neurons; by sample for a normalised loss
  SparseDeltas sparse;         // deltas of out_t that are not 0, with loss.gradient_threshold
  RowBins bins;                // touched rows of a sampled layer
};

// Multiplies the activations of a range of units and samples by dropout factors, in both layouts, and stores
// the factors in block.mask (inverted dropout: Srivastava et al. 2014, section 10). `all`: samples of the
// block. `rng`: stream of the whole block; the result does not depend on the ranges.
void apply_dropout(double probability, Slice units, Slice samples, std::size_t all, std::size_t lanes,
                   const Rng& rng, LayerBlock& block);

// delta [lanes x block.ldo], for the units and samples of `cell`: d loss / d activation on entry, d loss / d
// pre-activation on return.
void backward_through_activation(const LayerConfig& config, const SliceCell& cell, const LayerBlock& block,
                                 float* delta);

// The distinct features of a block as a dense matrix: input of a first layer that is stored by neuron.
struct FeatureColumns {
  std::vector<std::uint32_t> ids;       // ascending
  AlignedArray<float> xt, x;            // values [ids x lanes], [lanes x ldx]
  std::vector<std::uint32_t> position;  // working memory, by feature
  std::size_t ldx = 0;

  // Allocates memory for samples with `entries` features in all, numbered below `features`.
  void reserve(std::size_t features, std::size_t entries, std::size_t lanes);
  static std::size_t bytes_of(std::size_t features, std::size_t entries, std::size_t lanes);
  void build(std::span<const SparseRow> rows, std::size_t lanes);
};

struct Block {
  std::vector<SparseRow> rows;
  // Storage of `rows` that an InputTransform changed:
  std::vector<std::uint32_t> ids;  // ids of rows with crosses,
  std::vector<float> crossed;      // their values,
  std::vector<float> values;       // and values of scaled rows
  // Where other processes hold some of the features (split): the rows without these, renumbered from this
  // process's first feature.
  std::vector<SparseRow> own_rows;
  std::vector<std::uint32_t> own_ids;
  bool split = false;
  std::vector<std::span<const std::uint32_t>> labels;
  std::vector<float> weights;  // by sample; empty: all are 1
  // Masked labels by sample, which are neither labels nor negatives; empty: none.
  std::vector<std::span<const std::uint32_t>> masked;
  std::size_t lanes = 0;
  std::size_t number = 0;          // in its batch, from 0
  LayerBlock input;                // of the input layer, where there is one
  std::vector<LayerBlock> layers;  // by layer stored by neuron; the parts of the last layer one after another
  FeatureColumns columns;          // sparse features, for a first layer stored by neuron
  DenseInput dense;                // dense features
  BlockFeatures features;          // for a term of the output layer
  ShardedFeatures features_by_shard;
  // Sums and time of the last pass, where one thread computed the whole block:
  double loss = 0.0, active = 0.0;
  ActiveSources sources;
  PhaseSeconds seconds;
  std::size_t samples() const { return rows.size(); }
  // Input rows of the input layer.
  std::span<const SparseRow> entered() const { return split ? own_rows : rows; }
  std::size_t first_sample() const { return number * lanes; }  // of its batch
  void clear_samples() {
    rows.clear();
    ids.clear();
    crossed.clear();
    values.clear();
    own_rows.clear();
    own_ids.clear();
    labels.clear();
    weights.clear();
    masked.clear();
  }
};

}  // namespace slide

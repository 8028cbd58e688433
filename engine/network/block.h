// What a block of samples carries through the network: its inputs, and for each layer the active neurons with
// their activations and deltas. All memory is sized before the first step.
//
// Two layouts: unit-major [unit x lanes] feeds the products over rows, sample-major [lanes x units] the
// weight gradients. See engine/kernels/kernels.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
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

// Input of a layer for one block: the units that are present and their values.
struct BlockInput {
  bool partial = false;                    // only the units in `columns` are present; else units 0..width-1
  std::span<const std::uint32_t> columns;  // ids of the units, ascending for features
  std::size_t width = 0;
  const float* xt = nullptr;  // [width x lanes]
  const float* x = nullptr;   // [lanes x ldx]
  std::size_t ldx = 0;
  const BlockFeatures* features = nullptr;  // of the samples themselves, for a term
  std::size_t lanes = 0;
  std::size_t samples = 0;  // in use; the other lanes belong to no sample
};

// One layer's part of a block.
struct LayerBlock {
  ActiveSet set;              // of a sampled layer; empty in a dense one
  bool all = true;            // every neuron is active, neuron first + i in place i
  std::size_t first = 0;      // of a part of a dense layer
  std::size_t count = 0;      // active neurons
  AlignedArray<float> out_t;  // [count x lanes] activations; output layer: logits, then deltas
  AlignedArray<float> out;    // [lanes x ldo] activations, hidden layers
  std::size_t ldo = 0;
  AlignedArray<float> delta;    // [lanes x ldo] hidden layers stored by neuron
  AlignedArray<float> delta_t;  // [count x lanes] the same, unit-major
  AlignedArray<float> mask;     // [lanes x ldo] dropout factors, 0 or 1/(1-p); empty without dropout
  std::vector<TermHits> hits;   // of a term, by slice of active neurons
  TargetPlaces targets;         // of a one-vs-all output layer
  TargetPlaces left_out;        // of an output layer, where its samples leave neurons out
  std::vector<double> losses;   // of an output layer, by slice of neurons, under softmax by sample
  SparseDeltas sparse;          // the deltas in out_t, where most are rounded to 0
  RowBins bins;                 // touched rows of a sampled layer
};

// Applies dropout to some units' activations of some of a block's `all` samples, in both layouts, and records
// the factors in block.mask (inverted dropout: Srivastava et al. 2014, section 10). `rng` is the stream of
// all units and samples.
void apply_dropout(double probability, Slice units, Slice samples, std::size_t all, std::size_t lanes,
                   const Rng& rng, LayerBlock& block);

// Takes delta [lanes x block.ldo] of some units and samples from d loss / d output to d loss / d logit,
// through dropout and activation.
void backward_through_activation(const LayerConfig& config, const SliceCell& cell, const LayerBlock& block,
                                 float* delta);

// The distinct features of a block as dense columns: input of a first layer that works row by row.
struct FeatureColumns {
  std::vector<std::uint32_t> ids;
  AlignedArray<float> xt, x;
  std::vector<std::uint32_t> position;  // by feature
  std::size_t ldx = 0;

  // For samples with `entries` features in all.
  void reserve(std::size_t features, std::size_t entries, std::size_t lanes);
  static std::size_t bytes_of(std::size_t features, std::size_t entries, std::size_t lanes);
  void build(std::span<const SparseRow> rows, std::size_t lanes);
};

struct Block {
  std::vector<SparseRow> rows;
  std::vector<std::uint32_t> ids;      // of rows that the network has added pairs to, whose
  std::vector<float> crossed;          // values are these,
  std::vector<float> values;           // and those of rows that it has scaled
  std::vector<SparseRow> own_rows;     // what the rows have of the features that the process holds,
  std::vector<std::uint32_t> own_ids;  // numbered from the first of these on, where it does not hold all
  bool split = false;
  std::vector<std::span<const std::uint32_t>> labels;
  std::vector<float> weights;  // of the samples; empty: all are 1
  // What each sample leaves out, neither label nor negative; empty: nothing.
  std::vector<std::span<const std::uint32_t>> left_out;
  std::size_t lanes = 0;
  std::size_t number = 0;          // in its batch, from 0
  LayerBlock input;                // of the input layer, where there is one
  std::vector<LayerBlock> layers;  // of the layers stored by neuron, in their order; of the last, its parts
  FeatureColumns columns;          // where a first layer by neuron takes sparse features,
  DenseInput dense;                // and what samples have of dense ones
  BlockFeatures features;          // filled when the output layer has a term
  ShardedFeatures features_by_shard;
  double loss = 0.0, active = 0.0;  // of the last pass, where one thread did all of it,
  ActiveSources sources;
  PhaseSeconds seconds;  // and its time
  std::size_t samples() const { return rows.size(); }
  // The rows as the input layer takes them.
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
    left_out.clear();
  }
};

}  // namespace slide

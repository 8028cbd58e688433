// Prediction batch: samples that are scored together, in blocks that share each pass over the weights. It
// loads the samples and runs the hidden layers; a Scorer fills in the results of the output layer.
//
// Not thread-safe. Memory is kept between calls and grows to the largest call.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/inference/calibration.h"
#include "engine/inference/knn_votes.h"
#include "engine/inference/top_k.h"
#include "engine/network/network.h"

namespace slide {

// Hidden pre-activations (before bias and activation) of a data set, summed over the processes that hold
// shards of the network.
struct HiddenRows {
  std::vector<float> sums;  // [samples x width]
  std::size_t width = 0;
};

// A trained network as prediction uses it: the network, its kNN index if any, the numbers of training samples
// where known, and for a sharded network the hidden units of the data to predict. Refers to all of them.
struct TrainedNetwork {
  TrainedNetwork(const Network& trained, const Neighbours* knn)  // nullptr: no kNN prediction
      : network(trained), neighbours(knn) {}
  TrainedNetwork(const Network& trained, const Neighbours* knn, const DataShape& shape)
      : network(trained),
        neighbours(knn),
        label_frequencies(shape.label_frequencies),
        samples(shape.samples) {}
  const Network& network;
  const Neighbours* neighbours;
  std::span<const std::uint32_t> label_frequencies = {};  // by label of the whole network
  std::size_t samples = 0;
  const HiddenRows* hidden = nullptr;
  std::optional<Calibration> calibration = {};  // of answers; one-vs-all only
};

// Max number of feature values, feature crosses included, of any `lanes` samples that form a block.
std::size_t max_entries(const Network& network, const Dataset& data, std::size_t lanes);

// Whether the first layer computes each sample from its own full input: samples of a block do not share a
// feature selection.
bool has_whole_input(const Network& network);

struct PredictionBatch {
  static constexpr std::size_t kLanes = 128;    // max samples of a block
  static constexpr std::size_t kMaxBlocks = 4;  // max blocks of a batch
  // Max samples of a block where samples must not depend on each other; below the size at which features
  // become dense columns.
  static constexpr std::size_t kLanesByRow = 48;
  static_assert(BlockFeatures::sparse_entries(kLanesByRow) == 0);

  std::size_t lanes = 0;    // max samples of each block
  std::size_t entries = 0;  // capacity of a block, in feature values

  std::size_t features = 0;  // of samples, without feature crosses

  std::size_t first = 0;    // number of the first sample in its data set
  std::size_t samples = 0;  // in use
  std::size_t k = 0;
  bool log_softmax = false;        // whether log_norm is needed
  bool by_row = false;             // whether sums have the same order for any set of samples in a block
  std::vector<Block> blocks;       // as many as reserved
  std::vector<BlockInput> inputs;  // of the output layer, one per block in use
  ThreadScratch scratch;
  const HiddenRows* hidden = nullptr;

  // Results of a Scorer, by sample of the batch: top labels; log of the sum of exp(logit) over all scored
  // neurons; network scores of labels with kNN votes.
  std::vector<TopK> best;
  std::vector<double> log_norm;
  // Whether ExactPass computes all scores of a sample; else bounds come first (BoundedPass).
  std::vector<char> exact;
  std::optional<KnnVotes> votes;

  // Index in the batch of sample s of block b.
  std::size_t sample(std::size_t b, std::size_t s) const { return b * lanes + s; }
  // The raw features of a sample, without feature crosses: input of the linear term and the kNN search.
  SparseRow single_features(std::size_t b, std::size_t s) const {
    return first_features(blocks[b].rows[s], features);
  }
  LayerScratch& output_scratch() { return scratch.layers.back(); }
  // Adds exp(more) to the sum whose logarithm is log_norm[i].
  void add_log_norm(std::size_t i, double more);

  // Reserves `block_count` blocks of `block_lanes` samples with up to `max_entries` feature values.
  void reserve(const TrainedNetwork& trained, std::size_t block_count, std::size_t block_lanes,
               std::size_t max_entries);
  // Loads samples [first_sample, end) of `data`, which must fit; computes their kNN votes and runs the hidden
  // layers.
  void begin(const Network& network, const Dataset& data, std::size_t first_sample, std::size_t end);
};

}  // namespace slide

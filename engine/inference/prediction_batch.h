// A batch: samples that are scored together, in blocks which share each pass over the weights. It brings the
// samples to the output layer; a Scorer puts in what becomes of them there.
//
// Of one thread. Kept from call to call; memory grows to what the largest call needs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/inference/knn_votes.h"
#include "engine/inference/top_k.h"
#include "engine/network/network.h"

namespace slide {

// What is summed over the processes that hold a network's parts, by sample of a data set: the hidden units
// before bias and activation.
struct HiddenRows {
  std::vector<float> sums;  // [samples x width]
  std::size_t width = 0;
};

// A trained network as predictions see it: with the samples that vote, where there are any, and where other
// processes have parts of it, the hidden units of the data it predicts. Refers to all of them.
struct TrainedNetwork {
  TrainedNetwork(const Network& trained, const Neighbours* voters)  // nullptr: nobody votes
      : network(trained), neighbours(voters) {}
  const Network& network;
  const Neighbours* neighbours;
  const HiddenRows* hidden = nullptr;
};

// The most feature values, pairs among them, of `lanes` samples of `data` that are passed through the network
// together.
std::size_t most_entries(const Network& network, const Dataset& data, std::size_t lanes);

// Whether the samples of a block do not share which of their features a first layer looks at.
bool has_whole_input(const Network& network);

struct PredictionBatch {
  static constexpr std::size_t kLanes = 128;    // most samples of a block
  static constexpr std::size_t kMaxBlocks = 4;  // of a batch
  // The same where samples must not depend on each other: so few that features are dense columns.
  static constexpr std::size_t kLanesByRow = 48;
  static_assert(BlockFeatures::sparse_entries(kLanesByRow) == 0);

  std::size_t lanes = 0;    // of each block, at most
  std::size_t entries = 0;  // feature values of a block that there is room for

  std::size_t features = 0;  // of samples, without pairs

  std::size_t first = 0;    // number of the first sample in its data
  std::size_t samples = 0;  // in use
  std::size_t k = 0;
  bool log_softmax = false;        // whether log_norm is asked for
  bool by_row = false;             // whether sums must go the same way whatever samples a block has
  std::vector<Block> blocks;       // all there is room for
  std::vector<BlockInput> inputs;  // of the output layer, of each block in use
  ThreadScratch scratch;
  const HiddenRows* hidden = nullptr;

  // What a Scorer fills in, by sample of the batch: its best labels, log of the sum of exp(logit) over all
  // neurons scored, and the network's scores of the labels that neighbours vote for.
  std::vector<TopK> best;
  std::vector<double> log_norm;
  std::optional<KnnVotes> votes;

  // Sample s of block b.
  std::size_t sample(std::size_t b, std::size_t s) const { return b * lanes + s; }
  // Its features without pairs: what wide path and neighbours take.
  SparseRow single_features(std::size_t b, std::size_t s) const {
    return first_features(blocks[b].rows[s], features);
  }
  LayerScratch& output_scratch() { return scratch.layers.back(); }
  // log_norm of sample i with exp(more) added to the sum.
  void add_log_norm(std::size_t i, double more);

  // Makes room for `block_count` blocks of `block_lanes` samples with up to `most_entries` feature values.
  void reserve(const TrainedNetwork& trained, std::size_t block_count, std::size_t block_lanes,
               std::size_t most_entries);
  // Begins with samples [first_sample, end) of `data`, for which there must be room: has their neighbours
  // vote and runs the hidden layers.
  void begin(const Network& network, const Dataset& data, std::size_t first_sample, std::size_t end);
};

}  // namespace slide

#include "engine/inference/prediction_batch.h"

#include <algorithm>
#include <limits>

#include "engine/crosses/feature_transform.h"
#include "engine/inference/probability.h"
#include "engine/kernels/kernels.h"

namespace slide {

std::size_t max_entries(const Network& network, const Dataset& data, std::size_t lanes) {
  std::size_t largest = 0;
  for (std::size_t first = 0; first < data.size(); first += lanes) {
    std::size_t entries = 0;
    for (std::size_t i = first; i < std::min(data.size(), first + lanes); ++i)
      entries += crosses_of(network).max_entries(data.features(i).ids.size());
    largest = std::max(largest, entries);
  }
  return largest;
}

bool has_whole_input(const Network& network) {
  return network.input() || network.dense() > 0;
}

void PredictionBatch::add_log_norm(std::size_t i, double more) {
  log_norm[i] = log_of_sum(log_norm[i], more);
}

void PredictionBatch::reserve(const TrainedNetwork& trained, std::size_t block_count, std::size_t block_lanes,
                              std::size_t max_entries) {
  if (lanes == block_lanes && blocks.size() >= block_count && entries >= max_entries) return;
  lanes = block_lanes;
  hidden = trained.hidden;
  entries = std::max(entries, max_entries);
  block_count = std::max(block_count, blocks.size());
  blocks.clear();
  for (std::size_t b = 0; b < block_count; ++b)
    blocks.push_back(trained.network.make_inference_block(lanes, entries));
  scratch = trained.network.make_inference_scratch(lanes, entries);
  best.resize(block_count * lanes);
  log_norm.resize(block_count * lanes);
  exact.resize(block_count * lanes);
  if (trained.neighbours != nullptr && !votes)
    votes.emplace(*trained.neighbours, trained.network.config().loss.kind,
                  trained.network.parts().own_neurons());
}

// Loads each block, collects its votes before any layer changes it, and runs its hidden layers. With
// `hidden`, these are computed already.
void PredictionBatch::begin(const Network& network, const Dataset& data, std::size_t first_sample,
                            std::size_t end) {
  features = network.sample_features();
  first = first_sample;
  samples = end - first;
  inputs.clear();
  if (votes) votes->clear();
  for (std::size_t from = 0; from < samples; from += lanes) {
    Block& block = blocks[inputs.size()];
    block.clear_samples();
    for (std::size_t i = from; i < std::min(samples, from + lanes); ++i)
      network.add_sample(data, first + i, block);
    if (votes) votes->add_samples(block, network.sample_features());
    const bool alone = lanes == 1 || (block.rows.size() == 1 && !by_row);
    block.lanes = alone ? 1 : round_up(block.rows.size(), kernels::kLaneMultiple);
    inputs.push_back(hidden != nullptr
                         ? network.take_hidden(block, hidden->sums.data() + (first + from) * hidden->width)
                         : network.infer_hidden(block, scratch));
  }
  for (std::size_t i = 0; i < samples; ++i) {
    best[i].reset(k, network.output().size());
    log_norm[i] = -std::numeric_limits<double>::infinity();
  }
}

}  // namespace slide

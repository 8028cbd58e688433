#include "engine/wide/network_start.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "datasets/formats/item_masking.h"
#include "engine/base/parallel.h"
#include "engine/crosses/feature_transform.h"
#include "engine/network/feature_shards.h"
#include "engine/wide/item_fit.h"
#include "engine/wide/linear_term.h"

namespace slide {

namespace {

// Splits of each user's items into input and target items, for the initial weights and biases. More splits
// put more pairs of items on different sides, at a cost in time and memory.
constexpr std::size_t kStartSplits = 2;

// The ridge penalty to try first. It is smaller where users have few items: two items then have few users in
// common.
double first_penalty(double penalty, const Dataset& train) {
  return penalty * std::sqrt(std::clamp(items_of_user(train) / kItemsOfUser, 0.01, 1.0));
}

// Mean of the labels' log-odds over the labels of all samples.
double mean_log_odds(const DataShape& shape) {
  double sum = 0, count = 0;
  for (const std::uint32_t frequency : shape.label_frequencies) {
    if (frequency == 0) continue;
    sum += double(frequency) * log_odds(frequency, shape.samples);
    count += double(frequency);
  }
  return count > 0 ? sum / count : 0;
}

bool regresses_items(const Config& config) {
  const LayerConfig& output = config.layers.back();
  return config.data.kind == DataKind::kInteractions && output.wide && output.wide_ridge > 0;
}

// Ends of the ranges of features that each thread updates, approximately, so that it also initialises them
// (first touch by NUMA node).
std::vector<std::size_t> feature_ends(const Dataset& train, const Network& network, int threads) {
  const auto ranges = static_cast<std::uint32_t>(Indices::ranges(threads));
  const FeatureShards owners(train, network.parts().own_features(), network.input()->dense_rows(),
                             network.config().train.batch_size, ranges);
  std::vector<std::size_t> ends;
  for (std::uint32_t range = 0; range < ranges; ++range) ends.push_back(owners.end(range));
  return ends;
}

// output_init() on rank 0, which all ranks then have.
OutputInit shared_output_init(const OutputSamples& from, const DataShape& shape, int threads,
                              Cluster* cluster, const Network& network) {
  OutputInit init;
  if (cluster == nullptr || cluster->rank() == 0) {
    init = output_init(network.config(), scale_of(network), from.samples, shape, threads,
                       from.items ? &*from.items : nullptr);
  }
  if (cluster != nullptr) cluster->broadcast(std::as_writable_bytes(std::span(&init, 1)), 0);
  return init;
}

// Sets the biases of the own output neurons: offset + prior * log odds of the label.
void set_biases(const OutputInit& init, const DataShape& shape, Network& network) {
  if (!starts_at_frequencies(network.config().loss.kind)) return;
  const Slice own = network.parts().own_neurons();
  for (std::size_t i = own.first; i < std::min(own.end(), shape.label_frequencies.size()); ++i) {
    const double bias = init.offset + init.prior * log_odds(shape.label_frequencies[i], shape.samples);
    *network.output().bias().row(i - own.first) = static_cast<float>(bias);
  }
}

// Sets patterns and initial weights of the linear term of the own output neurons.
void set_wide(const OutputInit& init, const OutputSamples& from, int threads, Network& network) {
  if (!network.wide()) return;
  Layer& output = network.output();
  const Slice own = network.parts().own_neurons();
  if (from.items) {
    return output.set_term(std::make_unique<LinearTerm>(output.config(), *from.items, own.first, own.count,
                                                        init.scale, threads));
  }
  const bool all = own.count == network.labels();
  const Dataset labelled = all ? from.samples : from.samples.with_labels(own.first, own.count);
  output.set_term(std::make_unique<LinearTerm>(output.config(), init.scale, labelled, output.size(), threads,
                                               scale_of(network)));
}

}  // namespace

// Random weights, the input transform, biases and linear term of the output layer from samples, hash tables.
Network start_network(const Config& config, const TrainingRows& train, const DataShape& shape, int threads,
                      Cluster* cluster, OutputInit* output_init) {
  const std::size_t rank = cluster == nullptr ? 0 : static_cast<std::size_t>(cluster->rank());
  const std::size_t ranks = cluster == nullptr ? 1 : static_cast<std::size_t>(cluster->size());
  Network network(config, shape,
                  parts_for(config, train.crossed, output_neurons(config, shape), rank, ranks));
  network.initialise(
      threads, network.input() ? feature_ends(train.crossed, network, threads) : std::vector<std::size_t>());
  network.set_transform(std::make_shared<const FeatureTransform>(
      train.crosses, FeatureScale(train.raw, config.data.idf_power, config.data.normalize)));
  const OutputSamples from = output_samples(config, scale_of(network), train.raw, shape.labels, threads);
  const DataShape from_shape = config.data.kind == DataKind::kInteractions ? shape_of(from.samples) : shape;
  const OutputInit init = shared_output_init(from, from_shape, threads, cluster, network);
  set_biases(init, from_shape, network);
  set_wide(init, from, threads, network);
  if (output_init != nullptr) *output_init = init;
  network.rebuild_index(1, threads);
  return network;
}

// For interactions: samples with masked items, and item weights where a ridge penalty is configured.
OutputSamples output_samples(const Config& config, const FeatureScale& scale, const Dataset& train,
                             std::size_t labels, int threads) {
  if (config.data.kind != DataKind::kInteractions) return {train, std::nullopt};
  OutputSamples from{
      masked_samples({config.data.mask, config.data.normalize, config.train.seed, 0}, train, kStartSplits),
      std::nullopt};
  if (regresses_items(config) && !scale.active()) {
    const Dataset users = train.with_counts(train.feature_count(), static_cast<std::uint32_t>(labels));
    const double penalty = first_penalty(config.layers.back().wide_ridge, users);
    from.items = item_weights(users, choose_item_fit(users, penalty, config.train.seed, threads), threads);
  }
  return from;
}

double bytes_of_item_weights(const Config& config, std::size_t users, std::size_t items, double entries,
                             double pairs, int threads) {
  return regresses_items(config) ? bytes_of_item_fit(users, items, entries, pairs, threads) : 0;
}

// The fit, damped by layer.wide_fit; without a fit the configured scale and prior. With item weights all
// biases get the fitted bias of a label of mean log-odds.
OutputInit output_init(const Config& config, const FeatureScale& scale, const Dataset& train,
                       const DataShape& shape, int threads, const ItemWeights* items) {
  const LayerConfig& layer = config.layers.back();
  if (layer.wide && layer.wide_fit > 0 && starts_at_frequencies(config.loss.kind)) {
    // The logQ correction makes a sampled loss stand for the loss over all labels.
    const bool all = layer.kind == LayerKind::kDense || layer.logq_correction;
    const auto fitted = fit_output_init(train, shape.label_frequencies, scale,
                                        all ? double(shape.labels) : double(layer.uniform), config.train.seed,
                                        threads, items);
    const double share = layer.wide_fit;
    if (fitted && items != nullptr)
      return {share * fitted->scale, 0.0, share * (fitted->offset + fitted->prior * mean_log_odds(shape))};
    if (fitted) return {share * fitted->scale, share * fitted->prior, share * fitted->offset};
  }
  return {layer.wide_scale, config.loss.prior, 0.0};
}

}  // namespace slide

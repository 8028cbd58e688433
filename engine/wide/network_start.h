// Initialises a network for training, with feature crosses, idf factors and the linear term of its output
// layer. Functions are safe from any thread; several processes call start_network() together.
#pragma once

#include <optional>

#include "datasets/rows/dataset.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/knn/training_rows.h"
#include "engine/network/network.h"
#include "engine/statistics/feature_scale.h"
#include "engine/wide/item_ridge.h"
#include "engine/wide/output_init.h"

namespace slide {

// A network to train on `train`, of shape `shape`: random weights by the seed of `config`, idf factors,
// biases and linear term of the output layer (output_init.h), hash tables of generation 1. `cluster`: the
// processes that share the network, each with its parts (train.shards); nullptr for a single process.
// `output_init`: receives the initial values of the output layer, or nullptr. Throws InputError where
// configuration and data do not fit.
Network start_network(const Config& config, const TrainingRows& train, const DataShape& shape, int threads,
                      Cluster* cluster = nullptr, OutputInit* output_init = nullptr);

// The samples that initialise an output layer.
struct OutputSamples {
  Dataset samples;
  std::optional<ItemWeights> items;  // initial weights of the linear term, where the samples do not give them
};
// `train`; for interactions, samples of masked items (item_masking.h). `scale`: factors of the features; with
// some, there is no item ridge. `labels`: number of labels.
OutputSamples output_samples(const Config& config, const FeatureScale& scale, const Dataset& train,
                             std::size_t labels, int threads);
// Upper bound of the bytes that output_samples() needs to compute `items`. `entries`, `pairs`: items, and
// pairs of items, summed over the users.
double bytes_of_item_weights(const Config& config, std::size_t users, std::size_t items, double entries,
                             double pairs, int threads);
// Initial values of an output layer, from samples scaled by `scale`. `items`: initial weights of its linear
// term, or nullptr. With `items` all biases are equal: these weights already depend on the popularity of
// items.
OutputInit output_init(const Config& config, const FeatureScale& scale, const Dataset& train,
                       const DataShape& shape, int threads, const ItemWeights* items = nullptr);

}  // namespace slide

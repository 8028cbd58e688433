// A network at the beginning of training, with its guests: feature crosses, idf factors and the linear term.
// Pure functions, safe from any thread, but for the exchange with other processes.
#pragma once

#include <optional>

#include "datasets/rows/dataset.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/knn/training_rows.h"
#include "engine/network/network.h"
#include "engine/statistics/feature_scale.h"
#include "engine/wide/item_ridge.h"
#include "engine/wide/output_start.h"

namespace slide {

// A network ready to be trained on `train`, whose shape is `shape`: random weights of the configured seed,
// idf factors, initial biases and the linear term of the output layer (output_start.h), tables of
// generation 1. Throws InputError where configuration and data do not fit. `cluster`: the processes that
// share the network by its train.shards parts, each of which gets its own; they call it together. nullptr
// alone.
Network start_network(const Config& config, const TrainingRows& train, const DataShape& shape, int threads,
                      Cluster* cluster = nullptr);

// The samples that initialise an output layer.
struct OutputSamples {
  Dataset samples;
  std::optional<ItemWeights> items;  // initial weights of the linear term, where the samples do not give them
};
// For interactions, draws of masked items; else `train`. Features are scaled by `scale`; there are `labels`
// labels.
OutputSamples output_samples(const Config& config, const FeatureScale& scale, const Dataset& train,
                             std::size_t labels, int threads);
// Upper bound of the bytes to make its `items`, of users with so many items and pairs of items.
double bytes_of_item_weights(const Config& config, std::size_t users, std::size_t items, double entries,
                             double pairs, int threads);
// Initial values of an output layer, from samples scaled by `scale`. `items`: initial weights of its linear
// term, or nullptr; with them all biases are equal, for they know how popular items are.
OutputStart output_start(const Config& config, const FeatureScale& scale, const Dataset& train,
                         const DataShape& shape, int threads, const ItemWeights* items = nullptr);

}  // namespace slide

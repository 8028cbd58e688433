#include "engine/network/network_parts.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/feature_shards.h"

namespace slide {

std::vector<LayerPart> NetworkParts::of_layer() const {
  std::vector<LayerPart> parts;
  for (std::size_t p = own.first; p < own.end(); ++p) {
    Slice rows = neurons({p, 1});
    rows.first -= own_neurons().first;
    parts.push_back({rows, static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(count())});
  }
  return parts;
}

Slice parts_of_rank(std::size_t count, std::size_t rank, std::size_t ranks) {
  const std::size_t first = count * rank / ranks;
  return {first, count * (rank + 1) / ranks - first};
}

NetworkParts whole_network(std::size_t features, std::size_t neurons, std::size_t count) {
  NetworkParts parts;
  for (std::size_t p = 1; p <= count; ++p) {
    parts.neuron_ends.push_back(neurons * p / count);
    parts.feature_ends.push_back(features * p / count);
  }
  parts.own = {0, count};
  return parts;
}

NetworkParts even_parts(std::size_t features, std::size_t neurons, std::size_t rank, std::size_t ranks) {
  if (ranks > neurons) fail_input("{} processes cannot share {} output neurons; start fewer", ranks, neurons);
  NetworkParts parts{{}, {}, {rank, 1}};
  for (std::size_t p = 1; p <= ranks; ++p) {
    parts.neuron_ends.push_back(neurons * p / ranks);
    parts.feature_ends.push_back(features * p / ranks);
  }
  return parts;
}

// Neurons are divided evenly, features by their cost.
NetworkParts parts_for(const Config& config, const Dataset& train, std::size_t neurons, std::size_t rank,
                       std::size_t ranks) {
  const std::size_t count = config.train.shards;
  if (count > neurons) {
    fail_input("train.shards = {} is more than the {} output neurons; lower it", count, neurons);
  }
  if (ranks > count) {
    fail_input("{} processes cannot share a network of train.shards = {}; start fewer, or raise it", ranks,
               count);
  }
  NetworkParts parts = whole_network(train.feature_count(), neurons, count);
  parts.own = parts_of_rank(count, rank, ranks);
  if (count == 1) return parts;
  const FeatureShards features(train, {0, train.feature_count()}, {}, config.train.batch_size,
                               static_cast<std::uint32_t>(count));
  for (std::size_t p = 0; p < count; ++p) {
    parts.feature_ends[p] =
        std::min<std::size_t>(features.end(static_cast<std::uint32_t>(p)), train.feature_count());
  }
  return parts;
}

}  // namespace slide

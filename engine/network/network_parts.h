// Division of a network into train.shards parts, which several processes train together (model parallelism).
// A part has a range of output neurons and, where the first layer is stored by feature, a range of features.
// A process (rank) holds consecutive parts.
//
// The result of a step depends on the number of parts, not on the processes: each part samples its own active
// neurons, and sums over parts have a fixed order (part_sums.h).
//
// Plain data, pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/config/config.h"
#include "engine/network/slice.h"

namespace slide {

// A part of a layer in the process that holds it.
struct LayerPart {
  Slice neurons;             // rows of the process's Layer
  std::uint32_t number = 0;  // among the parts of all processes
  std::uint32_t of = 1;      // number of parts

  // This part's share of `all` items; the shares of all parts add up to `all` and differ by at most 1.
  std::uint32_t share(std::uint32_t all) const {
    const auto ends_at = [&](std::uint64_t end) { return static_cast<std::uint32_t>(all * end / of); };
    return ends_at(number + std::uint64_t{1}) - ends_at(number);
  }
};

struct NetworkParts {
  std::vector<std::size_t> neuron_ends;   // by part
  std::vector<std::size_t> feature_ends;  // by part
  Slice own;                              // parts of this process

  std::size_t count() const { return neuron_ends.size(); }
  bool split() const { return count() > 1; }
  bool complete() const { return own.count == count(); }  // this process holds all parts
  Slice neurons(Slice parts) const { return covered_by(neuron_ends, parts); }
  Slice features(Slice parts) const { return covered_by(feature_ends, parts); }
  Slice own_neurons() const { return neurons(own); }
  Slice own_features() const { return features(own); }
  std::vector<LayerPart> of_layer() const;  // the process's parts of the output layer

 private:
  static Slice covered_by(const std::vector<std::size_t>& ends, Slice parts) {
    const std::size_t first = parts.first == 0 ? 0 : ends[parts.first - 1];
    return {first, ends[parts.end() - 1] - first};
  }
};

// Returns the parts of process `rank` of `ranks`, of `count` parts in all.
Slice parts_of_rank(std::size_t count, std::size_t rank, std::size_t ranks);

// `count` parts of equal size, all in one process.
NetworkParts whole_network(std::size_t features, std::size_t neurons, std::size_t count = 1);

// For inference: as many parts of equal size as processes. Throws InputError for fewer neurons than
// processes.
NetworkParts even_parts(std::size_t features, std::size_t neurons, std::size_t rank, std::size_t ranks);

// For training on `train`: config.train.shards parts with equal numbers of neurons and features of about
// equal cost in a step (FeatureShards). Throws InputError for fewer neurons than parts, or fewer parts than
// processes.
NetworkParts parts_for(const Config& config, const Dataset& train, std::size_t neurons, std::size_t rank,
                       std::size_t ranks);

}  // namespace slide

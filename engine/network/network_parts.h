// How a network is cut into train.shards parts, so that several processes can train it: each part has a run
// of neighbouring output neurons and, where the first layer is stored by feature, of neighbouring features. A
// process holds some neighbouring parts.
//
// What a step computes depends on the parts there are, never on who holds them: every part chooses active
// neurons for itself, and what parts add to a sum is added in a fixed order (part_sums.h).
//
// Plain data; immutable while a network has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/dataset.h"
#include "engine/config/config.h"
#include "engine/network/slice.h"

namespace slide {

// A part of an output layer, as the process sees it that holds the layer's rows.
struct LayerPart {
  Slice neurons;             // rows of the layer
  std::uint32_t number = 0;  // among all parts,
  std::uint32_t of = 1;      // which are so many

  // This part's share of something that the layer has `all` of.
  std::uint32_t share(std::uint32_t all) const {
    const auto ends_at = [&](std::uint64_t end) { return static_cast<std::uint32_t>(all * end / of); };
    return ends_at(number + std::uint64_t{1}) - ends_at(number);
  }
};

struct NetworkParts {
  std::vector<std::size_t> neuron_ends;   // by part, of all
  std::vector<std::size_t> feature_ends;  // likewise
  Slice own;                              // parts that this process holds

  std::size_t count() const { return neuron_ends.size(); }
  bool split() const { return count() > 1; }
  bool complete() const { return own.count == count(); }  // all are here
  Slice neurons(Slice parts) const { return covered_by(neuron_ends, parts); }
  Slice features(Slice parts) const { return covered_by(feature_ends, parts); }
  Slice own_neurons() const { return neurons(own); }
  Slice own_features() const { return features(own); }
  std::vector<LayerPart> of_layer() const;  // own ones

 private:
  static Slice covered_by(const std::vector<std::size_t>& ends, Slice parts) {
    const std::size_t first = parts.first == 0 ? 0 : ends[parts.first - 1];
    return {first, ends[parts.end() - 1] - first};
  }
};

// Of `count` parts those of process `rank` of `ranks`.
Slice parts_of_rank(std::size_t count, std::size_t rank, std::size_t ranks);

// One part, or several cut evenly, all in one process.
NetworkParts whole_network(std::size_t features, std::size_t neurons, std::size_t count = 1);

// A network that is not trained, in as many parts as there are processes, all cut evenly. Throws InputError
// when there are fewer neurons than processes.
NetworkParts even_parts(std::size_t features, std::size_t neurons, std::size_t rank, std::size_t ranks);

// The parts of process `rank` of `ranks` for training on `train`. Neurons are cut evenly, features so that
// each part takes about the same time in a step. Throws InputError when there are fewer neurons than parts or
// fewer parts than processes.
NetworkParts parts_for(const Config& config, const Dataset& train, std::size_t neurons, std::size_t rank,
                       std::size_t ranks);

}  // namespace slide

// Sizes of a network and of its blocks, from configuration and data, without the network itself (memory
// plan). Pure functions; plain data.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/block_bounds.h"
#include "engine/network/network_parts.h"

namespace slide {

// Upper bounds of a block in one layer.
struct BlockLimits {
  std::size_t lanes = 0;
  std::size_t columns = 0;        // active input units; 0 = all units are active
  bool features = false;          // the input is sparse features
  std::size_t label_entries = 0;  // (sample, label) pairs
  bool sparse_deltas = false;     // output layer: loss.gradient_threshold > 0
  bool masks = false;             // output layer: samples mask neurons, at most label_entries
};

// `layer` with this part's shares of the numbers of negatives and candidates.
LayerConfig part_config(const LayerConfig& layer, const LayerPart& part);

// A layer stored by neuron.
struct LayerShape {
  LayerConfig config;
  std::size_t inputs = 0;
  std::size_t neurons = 0;  // of the process's parts
  bool output = false;
  Precision precision = Precision::kFp32;
  std::vector<LayerPart> parts;  // one; in the output layer, the parts that the process holds

  bool sampled() const { return config.kind == LayerKind::kSampled; }
  bool has_tables() const { return sampled() && config.lsh > 0; }
  std::size_t largest_part() const;  // its number of neurons
  // Max number of active neurons of a part in a block within `limits`.
  std::size_t active_limit(const BlockLimits& limits) const;
};

struct NetworkShape {
  std::size_t features = 0;          // with crosses and dense columns
  std::size_t dense = 0;             // the last features
  std::optional<LayerConfig> input;  // a dense first layer, stored by feature
  std::size_t input_features = 0;    // rows of `input` in this process
  std::vector<LayerShape> layers;    // stored by neuron
  NetworkParts parts;

  // Limits of layer l for blocks of `config.train.block_size` samples within `bounds`.
  BlockLimits limits_of(std::size_t l, const Config& config, const BlockBounds& bounds) const;
};
// The shape of a network whose parts, of equal size, are all in this process. A last layer of size 0 gets
// `labels` neurons.
NetworkShape network_shape(const Config& config, std::size_t features, std::size_t labels,
                           std::size_t dense = 0);
// The same with the rows of parts.own only.
NetworkShape network_shape(const Config& config, std::size_t features, const NetworkParts& parts,
                           std::size_t dense = 0);

}  // namespace slide

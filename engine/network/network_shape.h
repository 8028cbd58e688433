// The sizes of a network and of its blocks, as they follow from a configuration and the data: known before
// there is a network. Pure functions; plain data.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/block_bounds.h"
#include "engine/network/network_parts.h"

namespace slide {

// The largest block a layer must be ready for.
struct BlockLimits {
  std::size_t lanes = 0;
  std::size_t columns = 0;        // units of the layer's input in one block, 0 = all
  bool features = false;          // the input is the data itself
  std::size_t label_entries = 0;  // labels of a block's samples, with repeats
  bool sparse_deltas = false;     // of an output layer
  bool left_out = false;          // likewise: samples leave neurons out, as many as they have labels at most
};

// What a part of a sampled layer chooses its active neurons by: its share of what the layer draws.
LayerConfig part_config(const LayerConfig& layer, const LayerPart& part);

// A layer stored by neuron.
struct LayerShape {
  LayerConfig config;
  std::size_t inputs = 0;
  std::size_t neurons = 0;  // rows, of all parts here
  bool output = false;
  Precision precision = Precision::kFp32;
  std::vector<LayerPart> parts;  // one, or of an output layer those that the process holds

  bool sampled() const { return config.kind == LayerKind::kSampled; }
  bool has_tables() const { return sampled() && config.lsh > 0; }
  std::size_t largest_part() const;  // its neurons
  // Most neurons of a part that are active in one block of these limits.
  std::size_t active_limit(const BlockLimits& limits) const;
};

struct NetworkShape {
  std::size_t features = 0;  // the last `dense` of which are dense
  std::size_t dense = 0;
  std::optional<LayerConfig> input;  // a dense first layer, stored by feature,
  std::size_t input_features = 0;    // of which the process holds so many rows
  std::vector<LayerShape> layers;    // the others
  NetworkParts parts;

  // Of blocks of `config.train.block_size` samples within `bounds`, in layer l.
  BlockLimits limits_of(std::size_t l, const Config& config, const BlockBounds& bounds) const;
};
// Of parts that are all here, evenly cut. A last layer of size 0 has a neuron for each label.
NetworkShape network_shape(const Config& config, std::size_t features, std::size_t labels,
                           std::size_t dense = 0);
// What a process holds of it.
NetworkShape network_shape(const Config& config, std::size_t features, const NetworkParts& parts,
                           std::size_t dense = 0);

}  // namespace slide

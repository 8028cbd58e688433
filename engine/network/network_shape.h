// The sizes of a network and of its blocks, as they follow from a configuration and the data: known before
// there is a network. Pure functions; plain data.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/block_bounds.h"

namespace slide {

// The largest block a layer must be ready for.
struct BlockLimits {
  std::size_t lanes = 0;
  std::size_t columns = 0;        // units of the layer's input in one block, 0 = all
  bool features = false;          // the input is the data itself
  std::size_t label_entries = 0;  // labels of a block's samples, with repeats
  bool sparse_deltas = false;     // of an output layer
};

// A layer stored by neuron.
struct LayerShape {
  LayerConfig config;
  std::size_t inputs = 0;
  std::size_t neurons = 0;
  bool output = false;
  Precision precision = Precision::kFp32;

  bool sampled() const { return config.kind == LayerKind::kSampled; }
  bool has_tables() const { return sampled() && config.lsh > 0; }
  // Most neurons active in one block of these limits.
  std::size_t active_limit(const BlockLimits& limits) const;
};

struct NetworkShape {
  std::size_t features = 0;
  std::optional<LayerConfig> input;  // a dense first layer, stored by feature
  std::vector<LayerShape> layers;    // the others

  // Of blocks of `config.train.block_size` samples within `bounds`, in layer l.
  BlockLimits limits_of(std::size_t l, const Config& config, const BlockBounds& bounds) const;
};
// A last layer of size 0 has a neuron for each label.
NetworkShape network_shape(const Config& config, std::size_t features, std::size_t labels);

}  // namespace slide

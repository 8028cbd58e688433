#include "engine/network/network_shape.h"

#include <algorithm>

#include "engine/network/active_set.h"

namespace slide {

// All neurons of the largest part; in a sampled layer at most the labels and the other active neurons.
std::size_t LayerShape::active_limit(const BlockLimits& limits) const {
  std::size_t largest = 0;
  for (const LayerPart& part : parts) {
    const std::size_t rows = part.neurons.count;
    const std::size_t drawn = ActiveSampler::drawn(part_config(config, part), rows);
    largest =
        std::max(largest, sampled() ? std::min(rows, (output ? limits.label_entries : 0) + drawn) : rows);
  }
  return largest;
}

std::size_t LayerShape::largest_part() const {
  std::size_t largest = 0;
  for (const LayerPart& part : parts) largest = std::max(largest, part.neurons.count);
  return largest;
}

LayerConfig part_config(const LayerConfig& layer, const LayerPart& part) {
  LayerConfig config = layer;
  config.lsh = part.share(layer.lsh);
  config.uniform = part.share(layer.uniform);
  config.frequency = part.share(layer.frequency);
  return config;
}

// The input has a limited number of active units (columns) where it is sparse features or a sampled layer.
BlockLimits NetworkShape::limits_of(std::size_t l, const Config& config, const BlockBounds& bounds) const {
  BlockLimits limits;
  limits.lanes = config.train.block_size;
  limits.label_entries = bounds.label_entries;
  limits.features = l == 0 && !input;
  if (limits.features && dense == 0) limits.columns = std::min(features, bounds.feature_entries);
  limits.sparse_deltas = layers[l].output && config.loss.gradient_threshold > 0;
  limits.masks = layers[l].output && bounds.masks;
  if (l > 0 && layers[l - 1].sampled())
    limits.columns = layers[l - 1].active_limit(limits_of(l - 1, config, bounds));
  return limits;
}

NetworkShape network_shape(const Config& config, std::size_t features, std::size_t labels,
                           std::size_t dense) {
  const std::size_t last = config.layers.back().size;
  const std::size_t neurons = last == 0 ? labels : last;
  return network_shape(config, features, whole_network(features, neurons, config.train.shards), dense);
}

// A dense first layer below others becomes `input`; all other layers are stored by neuron.
NetworkShape network_shape(const Config& config, std::size_t features, const NetworkParts& parts,
                           std::size_t dense) {
  NetworkShape shape;
  shape.features = features;
  shape.dense = dense;
  shape.parts = parts;
  const std::size_t depth = config.layers.size();
  std::size_t inputs = features, first = 0;
  if (depth > 1 && config.layers.front().kind == LayerKind::kDense) {
    shape.input = config.layers.front();
    shape.input_features = parts.own_features().count;
    inputs = shape.input->size;
    first = 1;
  }
  for (std::size_t i = first; i < depth; ++i) {
    LayerConfig layer = config.layers[i];
    const bool output = i + 1 == depth;
    layer.wide_rate = used_wide_rate(layer, config.train.epochs);
    const std::size_t neurons = output ? parts.own_neurons().count : layer.size;
    shape.layers.push_back({layer, inputs, neurons, output, config.train.weights,
                            output ? parts.of_layer() : std::vector<LayerPart>{{{0, neurons}, 0, 1}}});
    inputs = neurons;
  }
  return shape;
}

}  // namespace slide

#include "engine/network/network_shape.h"

#include <algorithm>

#include "engine/network/active_set.h"

namespace slide {

std::size_t LayerShape::active_limit(const BlockLimits& limits) const {
  if (!sampled()) return neurons;
  return std::min(neurons, (output ? limits.label_entries : 0) + ActiveSampler::drawn(config, neurons));
}

BlockLimits NetworkShape::limits_of(std::size_t l, const Config& config, const BlockBounds& bounds) const {
  BlockLimits limits;
  limits.lanes = config.train.block_size;
  limits.label_entries = bounds.label_entries;
  limits.features = l == 0 && !input;
  if (limits.features) limits.columns = std::min(features, bounds.feature_entries);
  limits.sparse_deltas = layers[l].output && config.loss.delta_floor > 0;
  if (l > 0 && layers[l - 1].sampled())
    limits.columns = layers[l - 1].active_limit(limits_of(l - 1, config, bounds));
  return limits;
}

NetworkShape network_shape(const Config& config, std::size_t features, std::size_t labels) {
  NetworkShape shape;
  shape.features = features;
  const std::size_t depth = config.layers.size();
  std::size_t inputs = features, first = 0;
  if (depth > 1 && config.layers.front().kind == LayerKind::kDense) {
    shape.input = config.layers.front();
    inputs = shape.input->size;
    first = 1;
  }
  for (std::size_t i = first; i < depth; ++i) {
    const LayerConfig& layer = config.layers[i];
    const std::size_t neurons = layer.size == 0 ? labels : layer.size;
    shape.layers.push_back({layer, inputs, neurons, i + 1 == depth, config.train.weights});
    inputs = neurons;
  }
  return shape;
}

}  // namespace slide

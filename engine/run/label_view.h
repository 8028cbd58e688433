// What a model has learnt about one label. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/network/network.h"
#include "engine/run/model_file.h"

namespace slide {

// A label or a feature, and how much it has to do with the label asked about.
struct Related {
  std::uint32_t id;
  double score;
};

// The label of this name; by id where the model has no names. Throws InputError that tells what there is.
std::uint32_t find_label(const Model& model, const std::string& name);

// Names where the model has them, else ids.
std::string label_text(const Model& model, std::uint32_t label);
std::string feature_text(const Model& model, std::uint32_t feature);

// The `count` other labels whose output weights have the largest cosines with the label's own, best first,
// equal ones by id; none of those whose weights are all 0.
std::vector<Related> nearest_labels(const Network& network, std::uint32_t label, std::size_t count);

// Whether the network has weights straight from features to labels: a wide path, or an output layer that has
// the features as inputs.
bool has_feature_weights(const Network& network);

// The `count` features with the largest such weights for the label, best first, equal ones by id; weights are
// times what the network multiplies the feature's values by.
std::vector<Related> strongest_features(const Network& network, std::uint32_t label, std::size_t count);

}  // namespace slide

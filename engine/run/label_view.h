// Inspection of a single label: related labels and features. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/model_file.h"
#include "engine/network/network.h"

namespace slide {

// A label or feature related to a given label, with the strength of the relation.
struct Related {
  std::uint32_t id;
  double score;
};

// The label of this name, or of this id where the model has no names. Throws InputError that says which
// labels exist.
std::uint32_t find_label(const Model& model, const std::string& name);

// Name where the model has names, else the id.
std::string label_text(const Model& model, std::uint32_t label);
std::string feature_text(const Model& model, std::uint32_t feature);

// The `count` other labels whose output weights have the largest cosine similarity with the label's, best
// first, ties by id; labels with zero weights are excluded.
std::vector<Related> nearest_labels(const Network& network, std::uint32_t label, std::size_t count);

// Whether the network has direct weights from features to labels: a linear term, or an output layer as first
// layer.
bool has_feature_weights(const Network& network);

// The `count` features of largest direct weight for the label, best first, ties by id; weights are multiplied
// by the feature's scale factor.
std::vector<Related> strongest_features(const Network& network, std::uint32_t label, std::size_t count);

}  // namespace slide

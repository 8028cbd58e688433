// `slide inspect MODEL --label NAME`: what a model has learnt about a label.
#pragma once

#include <cstddef>
#include <string>

#include "engine/model/model_file.h"

namespace slide::cli {

// Prints the label with its `count` nearest labels and strongest features. Throws InputError where the model
// does not have the label.
void print_label(const Model& model, const std::string& name, std::size_t count);

// Prints all labels, a line each: training samples, TAB, name or id.
void print_labels(const Model& model);

}  // namespace slide::cli

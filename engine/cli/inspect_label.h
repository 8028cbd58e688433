// `slide inspect MODEL --label NAME`: what a model has learnt about one label.
#pragma once

#include <cstddef>
#include <string>

#include "engine/run/model_file.h"

namespace slide::cli {

// Prints it, with `count` nearest labels and strongest features. Throws InputError when the model has no such
// label.
void print_label(const Model& model, const std::string& name, std::size_t count);

}  // namespace slide::cli

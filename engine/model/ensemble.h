// Ensemble: combines models of the same training data into one model whose logits are the mean of theirs,
// which reduces the variance due to their random numbers (as in Breiman, "Bagging predictors", 1996).
//
// For networks of one dense hidden layer the result is such a network: its hidden layer concatenates theirs,
// its output weights are theirs divided by the number of models, and its linear term is the mean. Safe from
// any thread, for different outputs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/model/model.h"

namespace slide {

struct EnsembleOptions {
  std::vector<std::string> models;  // files, or run folders; at least two
  std::string out;                  // output file
  bool replace = true;              // a model that lies there, else InputError
};

struct EnsembleResult {
  std::size_t hidden = 0;  // units of the hidden layer
  std::size_t wide_weights = 0;
  ModelBytes bytes;
  std::vector<std::string> notes;  // Model::notes, and what is dropped
};

// The models may differ in hidden-layer size, optimizer, negative samples and patterns of the linear term;
// the result stores the first model's values of these keys. No optimizer state is written. Throws InputError
// where a model cannot be read, where the models differ in data, input or output, and for unsupported layers;
// Error where the file cannot be written.
EnsembleResult make_ensemble(const EnsembleOptions& options);

}  // namespace slide

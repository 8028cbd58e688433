// Models of the same training data as one model, whose logits are the means of theirs: what each of them took
// from its own random numbers weighs less in it than in any of them (Breiman, "Bagging predictors", 1996).
//
// Of networks of one dense hidden layer it is such a network: its hidden units are those of all, its output
// weights theirs divided by the number of models, its wide weights the means. Safe from any thread, for
// different outputs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/run/model.h"

namespace slide {

struct AverageOptions {
  std::vector<std::string> models;  // files, or folders of runs; at least two
  std::string out;                  // the file to write
};

struct EnsembleResult {
  std::size_t hidden = 0;  // units
  std::size_t wide_weights = 0;
  ModelBytes bytes;
  std::vector<std::string> notes;  // Model::notes
};

// The models need not be of one configuration: hidden layers, optimizer, negatives and patterns of the wide
// path may differ, and the file has those keys of the first. No state of an optimizer is written. Throws
// InputError when a model cannot be read, when they are not of the same data or take or answer it
// differently, and for other layers; Error when the file cannot be written.
EnsembleResult make_ensemble(const AverageOptions& options);

}  // namespace slide

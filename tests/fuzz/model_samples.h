// Models of all kinds, trained by the program itself, and samples for them. One thread; needs messages_file
// as run_command().
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/model_layout.h"

namespace slide::fuzz {

struct TrainedModel {
  std::string name, model, samples;  // the last two: files
};

// Writes a file.
void write_bytes(const std::string& path, const std::string& bytes);

// Names of the models that make_models() makes.
const std::vector<std::string>& model_kinds();
// Trains and converts them into `folder`.
void make_models(const std::string& folder, int messages_file);
// Their files.
std::vector<TrainedModel> models_in(const std::string& folder);
// Writes a few labelled samples for a model of this layout to `path`, or to X.NAME.npy and Y.NAME.txt, and
// returns the name of the data.
std::string write_samples(const std::string& folder, const std::string& file, const Layout& layout);

}  // namespace slide::fuzz

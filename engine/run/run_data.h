// Reads the data sets of a command with the settings of a configuration. Safe to call from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/text_model.h"
#include "engine/config/config.h"
#include "engine/run/model_file.h"

namespace slide {

// The configuration at `path` with its overrides, the paths of its data absolute: they hold from any folder.
// Throws InputError, here and below.
Config resolve_config(const std::string& path, const std::vector<std::string>& overrides);

// The configuration that a run has stored at `path`, read as parse_stored_config does, its paths absolute.
Config resolve_stored_config(const std::string& path, std::vector<std::string>& notes);

struct RunData {
  Dataset train;
  std::optional<Dataset> test;
  std::shared_ptr<const TextModel> text;  // of training text, else nullptr
  std::vector<std::string> notes;         // what the user should know about the reading, a line each
};

// data.train and, where it is set, data.test, both with the larger of their numbers of features.
RunData read_run_data(const Config& config, int threads);

// How data are read for a model trained with `config` on data of so many features, and on text if there is
// some.
ReadOptions model_read_options(const DataConfig& config, std::size_t features,
                               std::shared_ptr<const TextModel> text, int threads);
ReadOptions model_read_options(const Model& model, int threads);

// A file for a trained model.
Dataset read_test_data(const std::string& path, const Model& model, int threads);

}  // namespace slide

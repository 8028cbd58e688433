// Reads the data sets of a command with the settings of a configuration. Safe to call from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "engine/config.h"

namespace slide::cli {

// The configuration at `path` with its overrides, the paths of its data absolute: they hold from any folder.
// Throws InputError, here and below.
Config resolve_config(const std::string& path, const std::vector<std::string>& overrides);

struct RunData {
  Dataset train;
  std::optional<Dataset> test;
  std::vector<std::string> notes;  // what the user should know about the reading, a line each
};

// data.train and, where it is set, data.test, both with the larger of their numbers of features.
RunData read_run_data(const Config& config, int threads);

// A file for a trained model of `features` features.
Dataset read_test_data(const std::string& path, const DataConfig& config, std::size_t features, int threads);

// The same from standard input: libsvm lines, or XMC text with its header.
Dataset read_standard_input(const DataConfig& config, std::size_t features, int threads);

}  // namespace slide::cli

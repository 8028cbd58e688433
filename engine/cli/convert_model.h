// `slide convert` of a model: quantization, pruning, removal of the optimizer state. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/run/quantize.h"

namespace slide::cli {

// --drop-optimizer, --weights, --prune, --threshold, --calibrate and --test.
struct QuantizeCommand {
  QuantizeOptions options;
  bool drop_optimizer = false;

  bool any() const {
    return drop_optimizer || options.form || options.pruning || !options.threshold.empty() ||
           !options.calibrate.empty() || !options.test.empty();
  }
};
void add_quantize(CLI::App& app, QuantizeCommand& command);

// Name of a storage form; sizes of a file's sections.
const char* form_name(ModelForm form);
nlohmann::ordered_json json_of(const ModelBytes& bytes);
nlohmann::ordered_json json_of(const Calibration& calibration);

// Writes the compressed model and prints a comparison, as a table or JSON.
void run_quantize(const QuantizeCommand& command, bool json);

}  // namespace slide::cli

// `slide convert` of a model: into a smaller one. For one thread.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/run/smaller.h"

namespace slide::cli {

// --drop-optimizer, --weights, --prune and --test.
struct SmallerCommand {
  SmallerOptions options;
  bool drop_optimizer = false;

  bool any() const { return drop_optimizer || options.form || options.pruning || !options.test.empty(); }
};
void add_smaller(CLI::App& app, SmallerCommand& command);

// What a form is called, and what a file holds.
const char* form_name(ModelForm form);
nlohmann::ordered_json json_of(const ModelBytes& bytes);

// Makes the model smaller and tells how: a table, or JSON.
void run_smaller(const SmallerCommand& command, bool json);

}  // namespace slide::cli

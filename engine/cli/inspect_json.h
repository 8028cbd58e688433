// Output of `slide inspect --json`: the figures of the text output as one object. Sizes in bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/model/model_file.h"
#include "engine/run/data_look.h"
#include "engine/training/memory_plan.h"

namespace slide::cli {

// "layers" (a list) and "memory". `guessed`: sizes of samples are estimates, and marked as such.
nlohmann::ordered_json json_of(const Config& config, const MemoryPlan& plan, bool guessed);

// Facts of the model file at `path`, without layers and memory.
nlohmann::ordered_json json_of(const Model& model, const std::string& path);

// The hash tables, a list; they must be built.
nlohmann::ordered_json json_of_tables(const Model& model);

// "labels", a list with the content of print_label() for each. Throws as print_label().
nlohmann::ordered_json json_of_labels(const Model& model, const std::vector<std::string>& names,
                                      std::size_t count);

// "labels", a list with the content of print_labels().
nlohmann::ordered_json json_of_label_list(const Model& model);
nlohmann::ordered_json json_of_label_list(const DataLook& look);

// A first look at data, its names whole.
nlohmann::ordered_json json_of(const DataLook& look);

// The object as text; replaces invalid UTF-8 in names of the data.
std::string text_of(const nlohmann::ordered_json& json);

}  // namespace slide::cli

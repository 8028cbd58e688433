// What `slide inspect --json` prints: the figures of the text as one object. Sizes in bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/memory_plan.h"
#include "engine/run/model_file.h"

namespace slide::cli {

// "layers", a list, and "memory". What is an estimate of samples nobody has seen is so with `guessed`.
nlohmann::ordered_json json_of(const Config& config, const MemoryPlan& plan, bool guessed);

// What the file at `path` says, without layers and memory.
nlohmann::ordered_json json_of(const Model& model, const std::string& path);

// The hash tables, a list; they must be built.
nlohmann::ordered_json json_of_tables(const Model& model);

// "labels", a list: what print_label() tells of each. Throws as that.
nlohmann::ordered_json json_of_labels(const Model& model, const std::vector<std::string>& names,
                                      std::size_t count);

// The object as text. Names in the encoding of the data may be no UTF-8; such bytes are replaced.
std::string text_of(const nlohmann::ordered_json& json);

}  // namespace slide::cli

// Thresholds in a file of JSON, as `slide evaluate --save-thresholds` writes it:
//   {"threshold":0.31,"labels":[{"id":7,"label":"music","threshold":0.4}, ...]}
// "labels" has those with thresholds of their own, or is absent; "label" where labels have names. Functions
// are safe from any thread, for different files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/inference/thresholds.h"
#include "engine/model/model.h"

namespace slide {

// `name`: of a label, or null where labels have none. Throws InputError for a threshold that is not finite;
// Error where the file cannot be written.
void write_thresholds(const std::string& path, const Thresholds& thresholds,
                      const std::function<std::string_view(std::uint32_t)>& name);

// A label as the file gives it.
struct ThresholdLabel {
  std::optional<std::uint32_t> id;
  std::optional<std::string> name;
};
// find(label) returns the id of a label, or nullopt to leave it out. Throws InputError for a file that is not
// as above, and for a label given twice.
using FindLabel = std::function<std::optional<std::uint32_t>(const ThresholdLabel&)>;
Thresholds read_thresholds(const std::string& path, const FindLabel& find);

// Thresholds of labels of a model: by names where its labels have names, else by numbers. `text`: a number,
// or a file. Throws InputError also for labels that the model does not have, and where a threshold cannot be
// one of probabilities: below 0, or above all floats.
Thresholds thresholds_of_model(const std::string& text, const Model& model);

// A finite number, in full; else nullopt.
std::optional<double> threshold_number(std::string_view text);

}  // namespace slide

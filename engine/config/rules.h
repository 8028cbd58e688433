// Rules between configuration fields, and the range of each. Pure functions, safe from any thread. Internal
// to the configuration library.
#pragma once

#include <optional>
#include <string>

#include "engine/config/settings.h"

namespace slide::config {

// A broken rule: the key to change ("layer.0.hash.k"; empty if it is about the whole file) and one sentence.
struct Violation {
  std::string key;
  std::string message;
};

// The first broken rule or range, in the order of the file.
std::optional<Violation> find_violation(const Config& config);

}  // namespace slide::config

// Ranges of fields and rules between them. Pure functions, safe from any thread. Internal to the
// configuration library.
#pragma once

#include <optional>
#include <string>

#include "engine/config/settings.h"

namespace slide::config {

// A broken rule: the key to change ("layer.0.hash.k"; empty for the whole file) and a message.
struct Violation {
  std::string key;
  std::string message;
};

// The first broken rule or range, in file order.
std::optional<Violation> find_violation(const Config& config);

}  // namespace slide::config

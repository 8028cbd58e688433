// Frame of a model file or a checkpoint: configuration, length and checksum. Pure functions.
#pragma once

#include <optional>
#include <string>

namespace slide::fuzz {

// The configuration of a file; nullopt where its length is invalid.
std::optional<std::string> config_of(const std::string& file);
// Replaces the configuration of a file that has one.
void replace_config(std::string& file, const std::string& config);

// Removes the footer, if there is one.
void unseal(std::string& file);
// Appends the footer, and corrects a model's length.
void seal(std::string& file);

}  // namespace slide::fuzz

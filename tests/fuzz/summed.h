// The frame of a model file or a checkpoint: its configuration, its length and its checksum. Pure functions.
#pragma once

#include <optional>
#include <string>

namespace slide::fuzz {

// A file's configuration; nothing where its length does not fit.
std::optional<std::string> config_of(const std::string& file);
// Puts another one in its place; only for a file that has one.
void replace_config(std::string& file, const std::string& config);

// Takes the footer off, if there is one.
void unseal(std::string& file);
// Adds the footer of what is there, and puts a model's length right.
void seal(std::string& file);

}  // namespace slide::fuzz

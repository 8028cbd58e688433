// The configuration of a run: reading it from TOML, checking it, and writing it. Everything here is made from
// one table of keys (fields.cpp). All functions are safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/config/settings.h"

namespace slide {

// Reads the TOML file at `path`, applies `overrides` ("section.key=value", "layer.1.hash.k=7"; layers count
// from 0) in order and checks ranges and cross-field rules. Throws InputError naming file, line, key and the
// nearest known key.
Config load_config(const std::string& path, const std::vector<std::string>& overrides = {});

// The same from text; `origin` stands in messages for the file name.
Config parse_config(const std::string& text, const std::string& origin,
                    const std::vector<std::string>& overrides = {});

// The whole configuration as TOML, every key present, such that parse_config gives it back exactly.
std::string to_toml(const Config& config);

// Markdown: every key with type, default, range and meaning.
std::string config_reference();

// Checks rules between fields (k * bits <= range_pow, layer order, ...). Throws InputError.
void validate(const Config& config);

}  // namespace slide

// The configuration of a run: reading it from TOML, checking it, and writing it. Everything here is made from
// one table of keys (fields.cpp). All functions are safe from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/settings.h"

namespace slide {

// Reads the TOML file at `path` over `base`, which has what it does not say, applies `overrides`
// ("section.key=value", "layer.1.hash.k=7"; layers count from 0) in order and checks ranges and cross-field
// rules. Where it says data.kind = interactions and the base does not, the base is first suited to these.
// Throws InputError naming file, line, key and the nearest known key.
Config load_config(const std::string& path, const std::vector<std::string>& overrides = {},
                   const Config& base = Config());

// The same from text; `origin` stands in messages for the file name.
Config parse_config(const std::string& text, const std::string& origin,
                    const std::vector<std::string>& overrides = {}, const Config& base = Config());

// A sentence for each key that the file (none where `path` is empty) or an override writes by an old name;
// `config` is what was read from them. Throws InputError as load_config.
std::vector<std::string> old_key_names(const std::string& path, const std::vector<std::string>& overrides,
                                       const Config& config);

// What to_toml() of this or another version wrote, as in a model file; `origin` stands in messages for the
// file name. Keys of old names are understood, and a key that did not exist yet has the value that means the
// same as before. A key that is not known is left out. What was left out or had to be guessed is added to
// `notes`, a sentence each, for the user. Throws InputError as parse_config for everything else.
Config parse_stored_config(const std::string& text, const std::string& origin,
                           std::vector<std::string>& notes);

// The same from the file at `path`, as config.toml of a run.
Config load_stored_config(const std::string& path, std::vector<std::string>& notes);

// The whole configuration as TOML, every key present, such that parse_config gives it back exactly.
std::string to_toml(const Config& config);

// A key that has another value in another configuration.
struct ChangedKey {
  std::string heading;  // of its section, as in the file: "[train]", "[[layer]]"
  std::string section;  // "train", "layer.0"
  std::string key;      // in it
  std::string before, after;
};
// The first of the keys that matter, each told as "train.epochs", or none. Both have as many layers.
std::optional<ChangedKey> first_changed_key(const Config& before, const Config& after,
                                            const std::function<bool(std::string_view)>& matters);

// Markdown: every key with type, default, range and meaning.
std::string config_reference();

// Checks rules between fields (k * bits <= range_pow, layer order, ...). Throws InputError.
void validate(const Config& config);

}  // namespace slide

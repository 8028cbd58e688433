// Configuration of a run: reading from TOML, checking, writing. Everything derives from one table of keys
// (fields.cpp). Functions are safe from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/settings.h"

namespace slide {

// A configuration's text, read once: a pipe has it only once.
struct ConfigText {
  std::string text, origin;  // origin: the path, for messages
};
// Throws InputError for a file that cannot be read, has no end, or is longer than a configuration (16 MB).
ConfigText read_config_text(const std::string& path);

// Reads the TOML file at `path`, with missing keys from `base`; applies `overrides` ("section.key=value",
// "layer.1.hash.k=7"; layers count from 0) in order; checks ranges and rules between fields. Where the result
// has data.kind = interactions and the base has not, the base is first adapted by suited_to_interactions().
// Throws InputError with file, line, key and the nearest known key.
Config load_config(const std::string& path, const std::vector<std::string>& overrides = {},
                   const Config& base = Config());

// The same from text; `origin` replaces the file name in messages.
Config parse_config(const std::string& text, const std::string& origin,
                    const std::vector<std::string>& overrides = {}, const Config& base = Config());

// A sentence for each key that the file (may be empty) or an override gives by an old name, then those of
// unused_keys(); `config` is the result of reading them. Throws InputError as load_config().
std::vector<std::string> notes_on_keys(const ConfigText& file, const std::vector<std::string>& overrides,
                                       const Config& config);

// Reads the output of to_toml() of this or another version, as stored in model files; `origin` replaces the
// file name in messages. Accepts old names of keys; a key that did not exist yet gets the value equivalent to
// the previous behaviour; unknown keys are ignored. Appends a sentence to `notes` for each ignored key or
// guessed value. Throws InputError as parse_config() for everything else.
Config parse_stored_config(const std::string& text, const std::string& origin,
                           std::vector<std::string>& notes);

// The same from the file at `path`, such as config.toml of a run.
Config load_stored_config(const std::string& path, std::vector<std::string>& notes);

// The complete configuration as TOML, with every key; parse_stored_config() restores it exactly.
std::string to_toml(const Config& config);

// A key with different values in two configurations.
struct ChangedKey {
  std::string heading;  // of its section, as in the file: "[train]", "[[layer]]"
  std::string section;  // e.g. "train", "layer.0"
  std::string key;      // within the section
  std::string before, after;
};
// The first differing key for which matters("train.epochs") holds, if any. Both configurations have equally
// many layers.
std::optional<ChangedKey> first_changed_key(const Config& before, const Config& after,
                                            const std::function<bool(std::string_view)>& matters);

// Checks the rules between fields (k * bits <= range_pow, order of layers, ...). Throws InputError.
void validate(const Config& config);

}  // namespace slide

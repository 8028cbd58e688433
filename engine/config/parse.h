// Parser of TOML text and overrides. User input is read strictly: keys missing in fields.cpp are errors.
// Stored configurations are read with the meaning at their time of writing. One Parser per configuration; not
// thread-safe. Internal to the configuration library.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/config/fields.h"
#include "engine/config/settings.h"

namespace slide::config {

class Parser {
 public:
  // `origin` replaces the file name in messages. `base` has the values of missing keys, for an equal number
  // of layers; otherwise layers start from defaults.
  Parser(std::string origin, const Config& base) : origin_(std::move(origin)), config_(base) {}
  Parser(const Parser&) = delete;  // fields are bound to config_
  Parser& operator=(const Parser&) = delete;

  // Reads a whole file. Call it once, before the overrides. Throws InputError for syntax errors, unknown
  // names, wrong types and values out of range.
  void read(std::string_view text);

  // Applies "section.key=value". Throws InputError that names the override.
  void apply_override(const std::string& text);

  // A sentence for each key given by an old name (renamed_keys()), in reading order.
  const std::vector<std::string>& old_names() const { return old_names_; }

  // Full names of the keys that overrides gave.
  const std::set<std::string>& overridden() const { return overridden_; }

  // Checks the rules and returns the configuration; hidden layers that are said to be sampled are refused.
  // Throws InputError with the line or override of the culprit.
  Config finish();

 private:
  void refuse_sampled_hidden() const;

  struct TomlAccess;  // code with access to the TOML library

  std::vector<std::string> names_of_keys();
  std::vector<std::string> names_of_sections();
  std::string place(unsigned line) const;
  void note_old_name(const std::string& where, const std::string& was, const std::string& is);
  [[noreturn]] void fail_unknown_key(const std::string& where, const std::string& name);
  std::string resolve_layer(const std::string& where, const std::string& name) const;

  std::string origin_;
  Config config_;
  std::vector<Section> sections_;              // of config_, built for the first override
  std::map<std::string, std::string> places_;  // key -> where it was set
  std::vector<std::string> old_names_;
  std::set<std::string> overridden_;
};

// Reads the output of to_toml() of this or another version. `renamed` maps old names to current keys; unknown
// keys are ignored; missing keys get their Field::before, else their default. Appends a sentence to `notes`
// for each ignored key and each default. Throws InputError for syntax errors, wrong types, values out of
// range, broken rules, and no layers.
Config parse_stored(std::string_view text, const std::string& origin, std::span<const Renamed> renamed,
                    std::vector<std::string>& notes);

// A key of a file without tables, and its values as text: of a list all, else one.
struct PlainKey {
  std::string key;
  std::vector<std::string> values;
  unsigned line = 0;
};
// Throws InputError for syntax errors, and for values that are tables or dates.
std::vector<PlainKey> parse_plain(std::string_view text, const std::string& origin);

}  // namespace slide::config

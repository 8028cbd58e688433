// Reads TOML text and overrides into a Config. What a user wrote is read strictly: what is not described in
// fields.cpp is an error. What a program stored is read by what it meant when it was written. One parser
// reads one configuration; not thread-safe. Internal to the configuration library.
#pragma once

#include <map>
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
  // `origin` stands in messages for the file name. `base` has the values of keys that nobody gives, of as
  // many layers as are read; of another number they are of default values.
  Parser(std::string origin, const Config& base) : origin_(std::move(origin)), config_(base) {}
  Parser(const Parser&) = delete;  // fields are bound to config_
  Parser& operator=(const Parser&) = delete;

  // Reads a whole file. Call it once, before the overrides. Throws InputError: syntax, unknown name, wrong
  // type, value out of range.
  void read(std::string_view text);

  // Applies "section.key=value". Throws InputError naming the override.
  void apply_override(const std::string& text);

  // A sentence for each key that was written by an old name (renamed_keys()), in the order of reading.
  const std::vector<std::string>& old_names() const { return old_names_; }

  // The configuration, its rules checked. Throws InputError, at the line or override that set the culprit.
  Config finish();

 private:
  struct TomlAccess;  // the part that sees the TOML library

  std::vector<std::string> names_of_keys();
  std::vector<std::string> names_of_sections();
  std::string place(unsigned line) const;
  void note_old_name(const std::string& where, const std::string& was, const std::string& is);
  [[noreturn]] void fail_unknown_key(const std::string& where, const std::string& name);
  std::string resolve_layer(const std::string& where, const std::string& name) const;

  std::string origin_;
  Config config_;
  std::vector<Section> sections_;              // of config_, from the first override on
  std::map<std::string, std::string> places_;  // key -> where it was set
  std::vector<std::string> old_names_;
};

// Reads what to_toml() of this or another version wrote. Names in `renamed` are those of today's keys; a key
// that is not known is left out, one that is missing has its Field::before, else its default. What was left
// out, and every default taken, is added to `notes`, a sentence each. Throws InputError: syntax, wrong type,
// value out of range, a broken rule, no layer.
Config parse_stored(std::string_view text, const std::string& origin, std::span<const Renamed> renamed,
                    std::vector<std::string>& notes);

}  // namespace slide::config

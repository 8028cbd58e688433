// Options of a command from a TOML file and from environment variables. Precedence: the command line, then
// variables, then the file. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/parse.h"

namespace slide::cli {

// The variable of an option: SLIDE_MAX_BODY of --max-body, SLIDE_MODEL of MODEL.
std::string variable_of(const CLI::Option& option);

// Lets variables give all options of the command, lists with commas, and adds --config FILE. Call it last.
void take_settings(CLI::App& command);

// The settings of a command line `words`, where its command takes any.
class Settings {
 public:
  Settings(std::vector<std::string> words, const CLI::App& app);

  // Reads the file that --config or SLIDE_CONFIG names. Its keys are the names of options without "--"; sets
  // the environment variable of each key, unless it is set. Call it before parsing. Throws InputError for a
  // file that cannot be read, and for unknown keys.
  void read_file();

  // A warning for each environment variable whose name is nearly the variable of an option.
  std::vector<std::string> misspelt() const;

  // The value of an option as words or a variable give it, by its long name without "--"; empty without one.
  std::string value_of(const std::string& name) const;

  // A fault of a value, which the parser names by its option, as "--port: ...": by the variable, or the key
  // and its line in the file, that gave it.
  std::string with_source(const std::string& fault) const;
  // The same of a fault that a command finds in a value, which it names first: "nofile: there is no ...".
  std::string with_place(const std::string& fault) const;

 private:
  // Origin of the value of a variable: key and line in the file, or the variable itself.
  std::string place_of(const std::string& variable) const;
  void set_variable(const config::PlainKey& key, const std::string& file);
  std::optional<std::string> word_of(const std::string& name) const;

  const std::vector<std::string> words_;
  const CLI::App* command_ = nullptr;          // nullptr: one that takes no settings
  std::map<std::string, std::string> places_;  // where the file sets a variable, by its name
};

}  // namespace slide::cli

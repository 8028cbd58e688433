#include "engine/cli/settings_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "datasets/rows/file_bytes.h"
#include "engine/base/error.h"
#include "engine/config/names.h"

namespace slide::cli {

namespace {

constexpr const char* kSettings = "--config";
constexpr std::string_view kPrefix = "SLIDE_";

std::string key_of(const CLI::Option& option) {
  std::string key = option.get_positional() && option.get_lnames().empty() ? option.get_name(true)
                                                                           : option.get_lnames().front();
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return key;
}

bool takes_variables(const CLI::Option& option) {
  return option.get_positional() || (!option.get_lnames().empty() && option.get_lnames().front() != "help");
}

// Names of variables of the environment that begin with SLIDE_.
std::vector<std::string> own_variables() {
  std::vector<std::string> names;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    if (text.starts_with(kPrefix)) names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

// Whether at most a quarter of the letters differ, the prefix apart: other programs have variables, too.
bool is_near(std::string_view name, std::string_view known) {
  name.remove_prefix(kPrefix.size());
  known.remove_prefix(kPrefix.size());
  return 4 * config::edit_distance(name, known) <= std::max(name.size(), known.size());
}

}  // namespace

std::string variable_of(const CLI::Option& option) {
  std::string name = std::string(kPrefix) + key_of(option);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
  return name;
}

void take_settings(CLI::App& command) {
  command
      .add_option_function<std::string>(
          kSettings, [](const std::string&) {},
          "TOML file with options, as port = 8080; variables, as SLIDE_PORT, go before it, and options "
          "before both")
      ->type_name("FILE");
  for (CLI::Option* option : command.get_options()) {
    if (takes_variables(*option)) option->envname(variable_of(*option));
  }
}

Settings::Settings(std::vector<std::string> words, const CLI::App& app) : words_(std::move(words)) {
  if (words_.empty()) return;
  const auto commands =
      app.get_subcommands([&](const CLI::App* one) { return one->get_name() == words_.front(); });
  if (commands.empty()) return;
  const CLI::Option* const named = commands.front()->get_option_no_throw(kSettings);
  if (named != nullptr && !named->get_envname().empty()) command_ = commands.front();
}

void Settings::read_file() {
  const std::string file = value_of("config");
  if (file.empty()) return;
  const FileBytes bytes(file, FileBytes::kRead,
                        "--config and SLIDE_CONFIG name the configuration, check its path");
  for (const config::PlainKey& key : config::parse_plain(bytes.text(), file)) set_variable(key, file);
}

// Turns a key of the settings file into the environment variable of its option, unless that is set: variables
// take precedence over the file.
void Settings::set_variable(const config::PlainKey& key, const std::string& file) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command_->get_options()) {
    if (!takes_variables(*option) || option->check_lname("config")) continue;
    known.push_back(key_of(*option));
    if (known.back() != key.key) continue;
    const std::string variable = variable_of(*option);
    if (std::getenv(variable.c_str()) != nullptr) return;
    setenv(variable.c_str(), fmt::format("{}", fmt::join(key.values, ",")).c_str(), 0);
    places_[variable] = fmt::format("{}:{}: {}", file, key.line, key.key);
    return;
  }
  fail_input("{}:{}: unknown key '{}'; did you mean '{}'?", file, key.line, key.key,
             config::nearest_name(key.key, known));
}

// Warnings of variables that nearly have the name of an option's variable.
std::vector<std::string> Settings::misspelt() const {
  std::vector<std::string> known, warnings;
  if (command_ == nullptr) return warnings;
  for (const CLI::Option* option : command_->get_options()) {
    if (takes_variables(*option)) known.push_back(variable_of(*option));
  }
  for (const std::string& name : own_variables()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string nearest = config::nearest_name(name, known);
    if (!is_near(name, nearest)) continue;
    warnings.push_back(
        fmt::format("{}: this variable is not known and has no effect; did you mean {}?", name, nearest));
  }
  return warnings;
}

std::optional<std::string> Settings::word_of(const std::string& name) const {
  const std::string option = "--" + name, begin = option + "=";
  for (std::size_t i = 1; i < words_.size(); ++i) {
    if (words_[i] == option) return i + 1 < words_.size() ? words_[i + 1] : "";
    if (words_[i].starts_with(begin)) return words_[i].substr(begin.size());
  }
  return std::nullopt;
}

std::string Settings::value_of(const std::string& name) const {
  const CLI::Option* const option =
      command_ == nullptr ? nullptr : command_->get_option_no_throw("--" + name);
  if (option == nullptr) return "";
  if (const auto word = word_of(name)) return *word;
  const char* const value = std::getenv(variable_of(*option).c_str());
  return value == nullptr ? "" : value;
}

std::string Settings::place_of(const std::string& variable) const {
  const auto place = places_.find(variable);
  return place == places_.end() ? variable : place->second;
}

// Where a fault of the parser is about a value from a variable or the file, names that in place of the
// option.
std::string Settings::with_source(const std::string& fault) const {
  if (command_ == nullptr) return fault;
  for (const CLI::Option* option : command_->get_options()) {
    const std::string name = option->get_name(), flag = fmt::format("Could not convert: {} =", name);
    const bool of_flag = fault.starts_with(flag);
    if (!of_flag && !fault.starts_with(name + ":")) continue;
    if (!takes_variables(*option) || option->get_positional()) return fault;
    const std::string variable = variable_of(*option);
    if (word_of(option->get_lnames().front()) || std::getenv(variable.c_str()) == nullptr) return fault;
    return place_of(variable) +
           (of_flag ? ": give true or false, not" + fault.substr(flag.size()) : fault.substr(name.size()));
  }
  return fault;
}

// Puts the variable or the line of the file before a fault that begins with a value from there.
std::string Settings::with_place(const std::string& fault) const {
  if (command_ == nullptr) return fault;
  for (const CLI::Option* option : command_->get_options()) {
    if (!takes_variables(*option) || option->results().empty()) continue;
    const std::string value = option->results().front(), variable = variable_of(*option);
    const char* const set = std::getenv(variable.c_str());
    if (value.empty() || set == nullptr || value != set || std::ranges::find(words_, value) != words_.end())
      continue;
    const bool of_value =
        fault.starts_with(value + ":") || fault.starts_with(option->get_name() + " " + value);
    if (!of_value) continue;
    return fmt::format("{}: {}", place_of(variable), fault);
  }
  return fault;
}

}  // namespace slide::cli

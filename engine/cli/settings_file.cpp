#include "engine/cli/settings_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "datasets/rows/file_bytes.h"
#include "engine/base/error.h"
#include "engine/config/names.h"
#include "engine/config/parse.h"

namespace slide::cli {

namespace {

constexpr const char* kSettings = "--config";

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

// The file that the words, or the environment, name.
std::string file_in(const std::vector<std::string>& words) {
  const std::string begin = std::string(kSettings) + "=";
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == kSettings && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(begin)) return words[i].substr(begin.size());
  }
  const char* const named = std::getenv("SLIDE_CONFIG");
  return named == nullptr ? "" : named;
}

void set_variable(const config::PlainKey& key, const CLI::App& command, const std::string& file) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    if (!takes_variables(*option) || option->check_lname("config")) continue;
    known.push_back(key_of(*option));
    if (known.back() != key.key) continue;
    setenv(variable_of(*option).c_str(), fmt::format("{}", fmt::join(key.values, ",")).c_str(), 0);
    return;
  }
  fail_input("{}:{}: unknown key '{}'; did you mean '{}'?", file, key.line, key.key,
             config::nearest_name(key.key, known));
}

}  // namespace

std::string variable_of(const CLI::Option& option) {
  std::string name = "SLIDE_" + key_of(option);
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

void read_settings(const std::vector<std::string>& words, const CLI::App& app) {
  if (words.empty()) return;
  const auto commands =
      app.get_subcommands([&](const CLI::App* one) { return one->get_name() == words.front(); });
  const CLI::App* const command = commands.empty() ? nullptr : commands.front();
  const CLI::Option* const named = command == nullptr ? nullptr : command->get_option_no_throw(kSettings);
  if (named == nullptr || named->get_envname().empty()) return;
  const std::string file = file_in(words);
  if (file.empty()) return;
  const FileBytes bytes(file);
  for (const config::PlainKey& key : config::parse_plain(bytes.text(), file))
    set_variable(key, *command, file);
}

}  // namespace slide::cli

#include "engine/cli/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "engine/cli/help_format.h"
#include "engine/config/names.h"

namespace slide::cli {

namespace {

// Whether a word is `section.key=value`. A file of such a name can be given as ./NAME.
bool is_assignment(std::string_view word) {
  constexpr std::string_view kNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const std::string_view key = word.substr(0, std::min(word.find_first_not_of(kNames), word.size()));
  return !key.starts_with('-') && word.substr(key.size()).starts_with('=') &&
         key.find('.') != std::string_view::npos;
}

// "DATA", "MODEL DATA": the positional arguments of a command.
std::string positionals(const CLI::App& sub) {
  std::string names;
  for (const CLI::Option* option : sub.get_options()) {
    if (option->get_positional()) names += (names.empty() ? "" : " ") + usage_of(*option);
  }
  return names.empty() ? "no arguments" : names;
}

// Too few positional arguments, as of a command that takes two models: CLI11 counts those of one name.
std::string missing_fault(const CLI::App& sub, const std::string& otherwise) {
  for (const CLI::Option* option : sub.get_options()) {
    const int min_args = option->get_items_expected_min();
    const std::size_t given = option->count();
    if (!option->get_positional() || given == 0 || given >= static_cast<std::size_t>(min_args)) continue;
    return fmt::format("{} takes at least {} arguments, {}; there {} {}", sub.get_name(), min_args,
                       positionals(sub), given == 1 ? "is" : "are", given);
  }
  return otherwise;
}

std::string extra_fault(const CLI::App& sub) {
  std::vector<std::string> extras = sub.remaining();
  const bool behind_mark = extras.empty() || std::ranges::count(extras, "--") > 0;
  if (extras.empty() && sub.get_parent() != nullptr) extras = sub.get_parent()->remaining();
  const auto option = std::ranges::find_if(extras, [](const std::string& word) {
    return word.size() > 1 && word.starts_with('-') && word != "--";
  });
  if (option != extras.end() && behind_mark)
    return fmt::format(
        "{}: '{}' stands behind '--', where there are arguments alone; give options before '--'",
        sub.get_name(), *option);
  if (option != extras.end()) {
    return fmt::format("{} has no option {}{}", sub.get_name(), *option, nearest_option(sub, *option));
  }
  const char* test =
      sub.get_option_no_throw("--test") != nullptr
          ? ", several files as a pattern in quotes ('part*.txt'), and test data as --test FILE"
          : "";
  return fmt::format("{}: '{}' is one argument too many; it takes {}{}", sub.get_name(),
                     extras.empty() ? "" : extras.front(), positionals(sub), test);
}

// Drops "--" before arguments that can be no options: CLI11 takes none behind it that are optional.
void drop_mark(std::vector<std::string>& arguments) {
  const auto mark = std::ranges::find(arguments, "--");
  if (mark == arguments.end() || std::any_of(mark + 1, arguments.end(), [](const std::string& word) {
        return word.size() > 1 && word.starts_with('-');
      }))
    return;
  arguments.erase(mark);
}

// Moves --labels of `slide inspect` without a number to the end: what follows it is the subject.
void place_labels(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "inspect" || std::ranges::count(arguments, "--") > 0) return;
  const auto option = std::ranges::find(arguments, "--labels");
  if (option == arguments.end() || option + 1 == arguments.end()) return;
  const std::string& next = *(option + 1);
  const bool is_number = std::ranges::all_of(next, [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!is_number && !next.starts_with('-')) std::rotate(option, option + 1, arguments.end());
}

}  // namespace

std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments;
  bool behind_set = false;  // all words since --set were keys
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool value = !arguments.empty() && arguments.back() == "--set";
    if (behind_set && !value && is_assignment(word)) arguments.emplace_back("--set");
    behind_set = word == "--set" || word.starts_with("--set=") || (behind_set && is_assignment(word));
    arguments.push_back(word);
  }
  drop_mark(arguments);
  place_labels(arguments);
  return arguments;
}

std::string nearest_command(const CLI::App& app, std::string_view name) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  return config::suggestion(config::near_name(name, names));
}

std::string nearest_option(const CLI::App& sub, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : sub.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  const std::string given = word.substr(0, word.find('='));
  const std::string nearest =
      config::near_name(given.substr(std::min(given.find_first_not_of('-'), given.size())), names);
  return config::suggestion(nearest.empty() ? "" : "--" + nearest);
}

void refuse_options_as_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.starts_with("--") || command.get_option_no_throw(value) == nullptr) continue;
      throw CLI::ValidationError(
          option->get_name(), fmt::format("{} is an option, not its value; give the value before it", value));
    }
  }
}

std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  if (parsed.empty()) return fmt::format("{}; see 'slide --help'", error.what());
  const CLI::App& sub = *parsed.front();
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string what = extra ? extra_fault(sub) : missing_fault(sub, error.what());
  return fmt::format("{}{} 'slide {} --help'", what, what.ends_with('?') ? " See" : "; see", sub.get_name());
}

}  // namespace slide::cli

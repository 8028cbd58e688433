// `slide completion`: completion scripts for shells, generated from the descriptions of the commands.
#include <algorithm>
#include <map>

#include "engine/cli/commands.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

// Long and short names of a command's options, each once.
std::string option_names(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : " --") + name;
  }
  return names;
}

// Completes commands, their options and, everywhere else, files.
std::string bash_completion(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    commands += (commands.empty() ? "" : " ") + sub->get_name();
    cases += fmt::format("    {}) words='{}' ;;\n", sub->get_name(), option_names(*sub));
  }
  return fmt::format(
      "# bash completion of slide; made by 'slide completion bash'\n"
      "_slide() {{\n"
      "  local words=''\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} {}' -- \"${{COMP_WORDS[1]}}\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "  esac\n"
      "  case ${{COMP_WORDS[COMP_CWORD]}} in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o default -F _slide slide\n",
      commands, option_names(app), cases);
}

// `text` with a backslash before each of the characters `special`.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// Kinds of option values: none, one of some words, a file, or unknown to the shell.
enum class Values { kNone, kWords, kFile, kOther };

// The type as shown in help, without the descriptions of validators after a colon.
std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

// The words that an option accepts, blank-separated; the type has them as "{a,b}".
std::string words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return "";
  std::string words = type.substr(begin + 1, end - begin - 1);
  std::replace(words.begin(), words.end(), ',', ' ');
  return words;
}

Values values_of(const CLI::Option& option) {
  const std::string type = type_of(option);
  if (option.get_expected_max() == 0) return Values::kNone;
  if (!words_of(option).empty()) return Values::kWords;
  return type == "FILE" || type == "DIR" || type == "MODEL" ? Values::kFile : Values::kOther;
}

// Text for use inside single quotes: a quote ends the string, stands alone, and starts it again.
std::string zsh_quoted(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result;
}

std::string zsh_options(const CLI::App& app) {
  std::string specs;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    const Values values = values_of(*option);
    const std::string action = values == Values::kFile    ? "_files"
                               : values == Values::kWords ? "(" + words_of(*option) + ")"
                                                          : " ";
    const std::string type = escaped(type_of(*option), ":\\");
    const std::string behind = values == Values::kNone ? "" : ":" + type + ":" + action;
    const std::string meaning = zsh_quoted(escaped(option->get_description(), "[]:\\"));
    const char* often = option->get_expected_max() > 1 ? "*" : "";
    for (const std::string& name : option->get_lnames())
      specs += fmt::format(" \\\n        '{}--{}[{}]{}'", often, name, meaning, behind);
    for (const std::string& name : option->get_snames())
      specs += fmt::format(" \\\n        '{}-{}[{}]{}'", often, name, meaning, behind);
  }
  return specs;
}

std::string zsh_completion(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    commands +=
        fmt::format("      '{}:{}'\n", sub->get_name(), zsh_quoted(escaped(sub->get_description(), ":\\")));
    cases += fmt::format("    {})\n      _arguments{} \\\n        '*:file:_files' ;;\n", sub->get_name(),
                         zsh_options(*sub));
  }
  return fmt::format(
      "#compdef slide\n"
      "# zsh completion of slide; made by 'slide completion zsh'\n"
      "_slide() {{\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a commands=(\n"
      "{}"
      "    )\n"
      "    _describe command commands\n"
      "    _arguments{}\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $words[1] in\n"
      "{}"
      "  esac\n"
      "}}\n"
      "if [[ $funcstack[1] == _slide ]]; then\n"
      "  _slide \"$@\"\n"
      "else\n"
      "  compdef _slide slide\n"
      "fi\n",
      commands, zsh_options(app), cases);
}

// Lines that complete the options of a command where `condition` holds.
std::string fish_options(const CLI::App& app, const std::string& condition) {
  std::string lines;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    std::string names, behind;
    for (const std::string& name : option->get_snames()) names += " -s " + name;
    for (const std::string& name : option->get_lnames()) names += " -l " + name;
    const Values values = values_of(*option);
    if (values == Values::kFile) behind = " -r -F";
    if (values == Values::kOther) behind = " -x";
    if (values == Values::kWords) behind = fmt::format(" -x -a '{}'", words_of(*option));
    lines += fmt::format("complete -c slide -n '{}'{}{} -d '{}'\n", condition, names, behind,
                         escaped(option->get_description(), "'\\"));
  }
  return lines;
}

std::string fish_completion(const CLI::App& app) {
  const std::string first = "__fish_use_subcommand";
  std::string lines =
      "# fish completion of slide; made by 'slide completion fish'\n" + fish_options(app, first);
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    lines += fmt::format("complete -c slide -n {} -f -a {} -d '{}'\n", first, sub->get_name(),
                         escaped(sub->get_description(), "'\\"));
    lines += fish_options(*sub, "__fish_seen_subcommand_from " + sub->get_name());
  }
  return lines;
}

// By the name of the shell.
const std::map<std::string, std::string (*)(const CLI::App&)> kShells = {
    {"bash", bash_completion}, {"fish", fish_completion}, {"zsh", zsh_completion}};

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("completion", "Print a script that completes commands and options in a shell");
  sub->footer(
      "For this shell: source <(slide completion bash), or in zsh source <(slide completion zsh), in fish\n"
      "slide completion fish | source");
  std::vector<std::string> shells;
  for (const auto& [name, make] : kShells) shells.push_back(name);
  const auto take = [&app, &action](const std::string& shell) {
    action = [&app, shell] { print_text(kShells.at(shell)(app)); };
  };
  sub->add_option_function<std::string>("SHELL", take, "Shell to complete in")
      ->required()
      ->check(CLI::IsMember(shells));
}

}  // namespace slide::cli

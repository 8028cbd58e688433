// `slide completion`: completion scripts for shells, generated from the descriptions of the commands.
#include <algorithm>
#include <map>

#include "engine/cli/commands.h"
#include "engine/cli/text.h"
#include "engine/config/reference.h"

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

// A key of layers, "layer.X", as the keys of the first and the last layer: layer.0.X and layer.-1.X. Empty
// for other keys.
std::vector<std::string> of_layers(const std::string& key) {
  const std::size_t dot = key.find('.');
  if (key.substr(0, dot) != "layer") return {};
  return {"layer.0" + key.substr(dot), "layer.-1" + key.substr(dot)};
}

// Keys of the sections named in `sections`, or of all sections, as --set takes them. Keys of layers stand for
// the first and the last layer.
std::string keys_to_set(const std::string& sections) {
  std::string keys;
  const auto add = [&](const std::string& key) { keys += (keys.empty() ? "" : " ") + key + "="; };
  for (const KeyInfo& key : config_keys()) {
    const std::size_t dot = key.name.find('.');
    const std::string section = key.name.substr(0, dot);
    if (!sections.empty() && sections.find(section) == std::string::npos) continue;
    const std::vector<std::string> numbered = of_layers(key.name);
    if (numbered.empty()) add(key.name);
    for (const std::string& name : numbered) add(name);
  }
  return keys;
}

// The words that `slide config` explains: sections and keys; keys of layers with and without a number.
std::string keys_to_explain() {
  std::string keys, sections, last;
  for (const KeyInfo& key : config_keys()) {
    keys += " " + key.name;
    for (const std::string& name : of_layers(key.name)) keys += " " + name;
    if (const std::string section = key.name.substr(0, key.name.find('.')); section != last)
      sections += (sections.empty() ? "" : " ") + (last = section);
  }
  return sections + keys;
}

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

// The sections whose keys --set takes, separated by blanks; empty for all.
std::string sections_to_set(const CLI::App& app) {
  const std::string type = type_of(*app.get_option("--set"));
  return type.starts_with("data.") ? "data" : type.starts_with("text.") ? "data text" : "";
}

// The variable of a script that has the keys for --set; empty where a command has no such option.
std::string settable_keys(const CLI::App& app) {
  if (app.get_option_no_throw("--set") == nullptr) return "";
  const std::string sections = sections_to_set(app);
  return sections.empty() ? "every" : sections == "data" ? "data" : "text";
}

// The possible first arguments of a command, separated by blanks; empty where these are not a few words.
std::string first_words(const CLI::App& app) {
  if (app.get_name() == "config") return keys_to_explain();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) return words_of(*option);
  }
  return "";
}

// Completes commands, their options, keys after --set, the words of a first argument and, everywhere else,
// files.
std::string bash_completion(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    commands += (commands.empty() ? "" : " ") + sub->get_name();
    const std::string keys = settable_keys(*sub), first = first_words(*sub);
    cases += fmt::format("    {}) words='{}'{}{} ;;\n", sub->get_name(), option_names(*sub),
                         keys.empty() ? "" : " keys=$" + keys, first.empty() ? "" : " first='" + first + "'");
  }
  return fmt::format(
      "# bash completion of slide; made by 'slide completion bash'\n"
      "_slide() {{\n"
      "  local words='' keys='' first='' at=$COMP_CWORD\n"
      "  local every='{}'\n"
      "  local data='{}'\n"
      "  local text='{}'\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} {}' -- \"${{COMP_WORDS[1]}}\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "  esac\n"
      "  case ${{COMP_WORDS[COMP_CWORD]}} in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\")); return ;;\n"
      "  esac\n"
      "  while [ -n \"$keys\" ] && [ $((--at)) -gt 1 ]; do\n"
      "    case ${{COMP_WORDS[at]}} in\n"
      "      --set)\n"
      "        COMPREPLY=($(compgen -W \"$keys\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n"
      "        compopt -o nospace 2> /dev/null\n"
      "        return ;;\n"
      "      -*) break ;;\n"
      "    esac\n"
      "  done\n"
      "  [ \"$COMP_CWORD\" -ne 2 ] || COMPREPLY=($(compgen -W \"$first\" -- \"${{COMP_WORDS[2]}}\"))\n"
      "}}\n"
      "complete -o default -F _slide slide\n",
      keys_to_set(""), keys_to_set("data"), keys_to_set("data text"), commands, option_names(app), cases);
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
enum class Values { kNone, kWords, kKeys, kFile, kOther };

Values values_of(const CLI::Option& option) {
  const std::string type = type_of(option);
  if (option.get_expected_max() == 0) return Values::kNone;
  if (!words_of(option).empty()) return Values::kWords;
  if (option.check_lname("set")) return Values::kKeys;
  return type == "FILE" || type == "DIR" || type == "MODEL" ? Values::kFile : Values::kOther;
}

// Text for use inside single quotes: a quote ends the string, stands alone, and starts it again.
std::string zsh_quoted(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result;
}

// Option specs for zsh's _arguments, a line each: '--name[meaning]:type:action'.
std::string zsh_options(const CLI::App& app) {
  std::string specs;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    const Values values = values_of(*option);
    const std::string action = values == Values::kFile    ? "_files"
                               : values == Values::kWords ? "(" + words_of(*option) + ")"
                               : values == Values::kKeys  ? "{compadd -S \"\" -a " + settable_keys(app) + "}"
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
    const std::string first = first_words(*sub);
    const std::string behind = first.empty() ? "" : fmt::format("        '1:word:({})' \\\n", first);
    cases += fmt::format("    {})\n      _arguments{} \\\n{}        '*:file:_files' ;;\n", sub->get_name(),
                         zsh_options(*sub), behind);
  }
  return fmt::format(
      "#compdef slide\n"
      "# zsh completion of slide; made by 'slide completion zsh'\n"
      "_slide() {{\n"
      "  local -a every=({}) data=({}) text=({})\n"
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
      keys_to_set(""), keys_to_set("data"), keys_to_set("data text"), commands, zsh_options(app), cases);
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
    if (values == Values::kKeys) behind = fmt::format(" -x -a '{}'", keys_to_set(sections_to_set(app)));
    lines += fmt::format("complete -c slide -n '{}'{}{} -d '{}'\n", condition, names, behind,
                         escaped(option->get_description(), "'\\"));
  }
  return lines;
}

// Lines of fish's `complete`: commands, then for each command its options and first words.
std::string fish_completion(const CLI::App& app) {
  const std::string first = "__fish_use_subcommand";
  std::string lines =
      "# fish completion of slide; made by 'slide completion fish'\n" + fish_options(app, first);
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    lines += fmt::format("complete -c slide -n {} -f -a {} -d '{}'\n", first, sub->get_name(),
                         escaped(sub->get_description(), "'\\"));
    const std::string seen = "__fish_seen_subcommand_from " + sub->get_name();
    lines += fish_options(*sub, seen);
    if (const std::string words = first_words(*sub); !words.empty())
      lines += fmt::format("complete -c slide -n '{}; and test (count (commandline -opc)) -eq 2' -a '{}'\n",
                           seen, words);
  }
  return lines;
}

// Completion scripts by the name of the shell.
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

// `slide completion`: scripts for shells, made from the description of the commands.
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

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("completion", "Print a script that completes commands and options in a shell");
  sub->footer("For this shell: source <(slide completion bash)");
  sub->add_option_function<std::string>(
         "SHELL", [](const std::string&) {}, "Shell to complete in")
      ->required()
      ->check(CLI::IsMember({"bash"}));
  sub->callback([&app, &action] { action = [&app] { print_text(bash_completion(app)); }; });
}

}  // namespace slide::cli

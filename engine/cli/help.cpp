// `slide help` and `slide version`: commands equivalent to --help and --version.
#include <memory>

#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"
#include "engine/cli/usage.h"
#include "engine/cli/version.h"

namespace slide::cli {

namespace {

std::string help_of(const CLI::App& app, const std::string& name) {
  // App::help() would describe the given command, which is `help`.
  if (name.empty()) return app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (sub->get_name() == name) return sub->help(app.get_name());
  }
  fail_input("{}", unknown_command(app, name));
}

}  // namespace

void add_help(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("help", "Explain a command and its options");
  const auto command = std::make_shared<std::string>();
  sub->add_option("COMMAND", *command, "Command to explain; without one, all in short");
  sub->callback(
      [&app, &action, command] { action = [&app, command] { print_text(help_of(app, *command)); }; });
}

void add_version(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("version", "Print version, commit and instruction set");
  sub->callback([&action] { action = [] { print_text(version_line() + "\n"); }; });
}

}  // namespace slide::cli

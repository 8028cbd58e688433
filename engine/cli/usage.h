// Messages for invalid command lines, and conveniences of their syntax. Pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace slide::cli {

// The arguments of the program, with --set inserted before each further key after a --set, up to the first
// word that is not a key: `--set a.b=1 c.d=2` equals `--set a.b=1 --set c.d=2`. Arguments may stand on both
// sides of "--".
std::vector<std::string> arguments_of(int argc, char** argv, const CLI::App& app);

// Message for `name`, which is no command: suggests the nearest command, or the command of this program that
// does the same as a command of fastText or other programs.
std::string unknown_command(const CLI::App& app, const std::string& name);

// The message for a command line in the form of fastText.
inline constexpr const char* kFastTextForm =
    "'supervised' is a command of fastText; write 'slide train FILE --out FOLDER'";

// A hint for an unknown option `word`: "; did you mean '--out'?" with the nearest option of the command, or
// for an option of other programs "; it is a key here: --set layer.0.size=..."; else empty.
std::string nearest_option(const CLI::App& sub, const std::string& word);

// Throws CLI::ValidationError where an option has another option as its value: `--out --force`.
void refuse_options_as_values(const CLI::App& command);

// The reason of `error`, and a pointer to the help.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error);

}  // namespace slide::cli

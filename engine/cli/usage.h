// What is said of a command line that cannot be parsed, and what makes one easier to write. Pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace slide::cli {

// The arguments of the program, with --set before each key behind a --set, up to the first word that is none:
// `--set a.b=1 c.d=2` is the same as `--set a.b=1 --set c.d=2`.
std::vector<std::string> arguments_of(int argc, char** argv);

// "; did you mean 'train'?" for the command nearest to `name`, else empty.
std::string nearest_command(const CLI::App& app, std::string_view name);

// Throws CLI::ValidationError where an option has the name of another one as its value: `--out --force`.
void refuse_options_as_values(const CLI::App& command);

// Why `error` was thrown, and where to read on.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error);

}  // namespace slide::cli

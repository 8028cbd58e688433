// Options of a command from a TOML file and from variables of the environment: the command line goes before
// the variables, these before the file. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace slide::cli {

// The variable of an option: SLIDE_MAX_BODY of --max-body, SLIDE_MODEL of MODEL.
std::string variable_of(const CLI::Option& option);

// Lets variables give all options of the command, lists with commas, and adds --config FILE. Call it last.
void take_settings(CLI::App& command);

// Where `words` are a command that takes settings, and name a file by --config or SLIDE_CONFIG: sets the
// variables of its keys, which are those of the options without "--", unless they are set. Call it before
// parsing. Throws InputError for a file that cannot be read, and for unknown keys.
void read_settings(const std::vector<std::string>& words, const CLI::App& app);

}  // namespace slide::cli

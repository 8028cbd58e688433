// Layout of help texts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace slide::cli {

// Name of the value of an option in help: "FILE", "full|lsh"; empty for a flag.
std::string value_name(const CLI::Option& option);

// A positional argument in a line of usage: "MODEL", "[DATA]", "RUN...".
std::string usage_of(const CLI::Option& positional);

// CLI11's layout in 80 columns, without its notes on numbers of values and validators; its own wrapping
// leaves long texts to the terminal, which breaks words. Examples come last.
class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat() { label("SUBCOMMAND", "COMMAND"); }
  std::string make_footer(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
  std::string make_option_name(const CLI::Option* option, bool positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_option_usage(const CLI::Option* option) const override;
};

}  // namespace slide::cli

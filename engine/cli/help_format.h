// Layout of help texts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace slide::cli {

// CLI11's layout in 80 columns; its own wrapping leaves long texts to the terminal, which breaks words.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_footer(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
  std::string make_option_opts(const CLI::Option* option) const override;  // without its exclusions
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace slide::cli

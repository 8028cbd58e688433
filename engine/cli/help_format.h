// How help is laid out.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace slide::cli {

// The library's layout in 80 columns: it would leave long texts to the terminal, which breaks them inside
// words.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_footer(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
  std::string make_option_opts(const CLI::Option* option) const override;  // without what it excludes
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace slide::cli

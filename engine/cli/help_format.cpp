#include "engine/cli/help_format.h"

#include <algorithm>

#include "engine/cli/text.h"

namespace slide::cli {

namespace {

constexpr std::size_t kColumns = 80;

}  // namespace

std::string HelpFormat::make_footer(const CLI::App* app) const {
  std::string text = app->get_footer();
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "" : wrapped(text, kColumns) + '\n';
}

std::string HelpFormat::make_subcommand(const CLI::App* sub) const {
  const std::size_t width = get_column_width();
  std::string name = "  " + sub->get_name();
  name.resize(std::max(name.size() + 1, width), ' ');
  return wrapped(name + sub->get_description(), kColumns, width) + '\n';
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  const std::string text = Formatter::make_option_opts(option);
  return text.substr(0, text.find(" Excludes:"));
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  return wrapped(option->get_description(), kColumns - get_column_width());
}

}  // namespace slide::cli

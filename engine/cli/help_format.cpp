#include "engine/cli/help_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "engine/cli/examples.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

constexpr std::size_t kColumns = 80;

bool takes_several(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

}  // namespace

// Placeholder of an option's value in help: {a,b} of a validator becomes a|b, a type N or X.
std::string value_name(const CLI::Option& option) {
  if (option.get_type_size() == 0) return "";
  std::string name = option.get_type_name();
  const std::size_t check = name.find(':');  // what a validator says of itself
  if (check != std::string::npos && name.substr(check + 1, 1) == "{") {
    name = name.substr(check + 2, name.rfind('}') - check - 2);
    std::ranges::replace(name, ',', '|');
    return name;
  }
  name.resize(std::min(name.size(), check));
  return name == "UINT" || name == "INT" ? "N" : name == "FLOAT" ? "X" : name;
}

std::string usage_of(const CLI::Option& positional) {
  std::string name = positional.get_option_text();
  if (name.empty()) name = positional.get_name(true) + (takes_several(positional) ? "..." : "");
  return positional.get_required() ? name : '[' + name + ']';
}

std::string HelpFormat::make_footer(const CLI::App* app) const {
  std::string text = app->get_footer();
  std::ranges::replace(text, '\n', ' ');
  if (!text.empty()) text = wrapped(text, kColumns) + '\n';
  const auto examples = examples_of(app->get_name());
  if (!examples.empty()) text += text.empty() ? "Examples:\n" : "\nExamples:\n";
  for (const std::string_view example : examples) text += fmt::format("  {}\n", example);
  return text;
}

std::string HelpFormat::make_subcommand(const CLI::App* sub) const {
  const std::size_t width = get_column_width();
  std::string line = "  " + sub->get_name();
  line.resize(std::max(line.size() + 1, width), ' ');
  for (const char c : wrapped(sub->get_description(), kColumns - width)) {
    line += c;
    if (c == '\n') line.append(width, ' ');
  }
  return line + '\n';
}

std::string HelpFormat::make_option_name(const CLI::Option* option, bool positional) const {
  if (positional && !option->get_option_text().empty()) return option->get_option_text();
  return Formatter::make_option_name(option, positional);
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  const bool positional = option->get_positional();
  if (positional && !option->get_option_text().empty()) return "";
  std::string text = value_name(*option);
  if (positional && (text == "TEXT" || text.empty())) return takes_several(*option) ? " ..." : "";
  if (!option->get_default_str().empty()) text += '=' + option->get_default_str();
  if (!text.empty()) text = ' ' + text;
  if (!positional && option->get_required()) text += " (required)";
  for (const CLI::Option* other : option->get_needs()) text += fmt::format(" (with {})", other->get_name());
  return text;
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  return wrapped(option->get_description(), kColumns - get_column_width());
}

std::string HelpFormat::make_option_usage(const CLI::Option* option) const {
  return usage_of(*option);
}

}  // namespace slide::cli

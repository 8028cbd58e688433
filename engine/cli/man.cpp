// `slide man`: the manual page, generated from the descriptions of the commands.
#include "engine/cli/commands.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

// Escapes text for roff: no line starts a request, no dash becomes a hyphen.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (escaped.empty() || escaped.back() == '\n') escaped += c == '.' || c == '\'' ? "\\&" : "";
    escaped += c == '-' ? "\\-" : c == '\\' ? "\\e" : std::string(1, c);
  }
  return escaped;
}

std::string man_of(const CLI::App& sub) {
  std::string page = fmt::format(".SS slide {}\n{}.\n", roff(sub.get_name()), roff(sub.get_description()));
  for (const CLI::Option* option : sub.get_options()) {
    const std::string type =
        option->get_expected_max() > 0 && !option->get_positional() ? option->get_type_name() : "";
    page += fmt::format(".TP\n\\fB{}\\fR {}\n{}\n", roff(option->get_name(false, true)), roff(type),
                        roff(option->get_description()));
  }
  if (!sub.get_footer().empty()) page += fmt::format(".PP\n{}\n", roff(sub.get_footer()));
  return page;
}

std::string man_page(const CLI::App& app) {
  std::string page = ".TH SLIDE 1 \"\" \"slide " SLIDE_VERSION
                     "\"\n.SH NAME\nslide \\- train and use networks with very many outputs\n"
                     ".SH SYNOPSIS\n.B slide\nCOMMAND [ARGUMENT ...]\n";
  page += fmt::format(".SH DESCRIPTION\n{}\n.SH COMMANDS\n", roff(app.get_description()));
  for (const CLI::App* sub : app.get_subcommands(nullptr)) page += man_of(*sub);
  return page + fmt::format(".SH EXIT STATUS\n{}\n", roff(app.get_footer()));
}

}  // namespace

void add_man(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("man", "Print the manual page");
  sub->footer("To read it: slide man | man -l -");
  sub->callback([&app, &action] { action = [&app] { print_text(man_page(app)); }; });
}

}  // namespace slide::cli

// `slide man`: the manual page, generated from the descriptions of the commands.
#include "engine/cli/commands.h"
#include "engine/cli/examples.h"
#include "engine/cli/help_format.h"
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
    const bool named = !option->get_positional();
    const std::string name = named ? option->get_name(false, true) : usage_of(*option);
    page += fmt::format(".TP\n\\fB{}\\fR {}\n{}\n", roff(name), roff(named ? value_name(*option) : ""),
                        roff(option->get_description()));
  }
  if (!sub.get_footer().empty()) page += fmt::format(".PP\n{}\n", roff(sub.get_footer()));
  const auto examples = examples_of(sub.get_name());
  if (!examples.empty()) page += ".PP\nExamples:\n.PP\n.nf\n";
  for (const std::string_view example : examples) page += roff(std::string(example)) + '\n';
  if (!examples.empty()) page += ".fi\n";
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

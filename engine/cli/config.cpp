// `slide config`: the reference of the configuration.
#include "engine/config/config.h"

#include "engine/cli/commands.h"
#include "engine/cli/text.h"

namespace slide::cli {

void add_config(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("config", "Document the configuration");
  sub->add_flag_function(
         "--doc", [](std::int64_t) {}, "Print every key with type, default, range and meaning (Markdown)")
      ->required();
  sub->callback([&action] { action = [] { print_text(config_reference()); }; });
}

}  // namespace slide::cli

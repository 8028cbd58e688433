// `slide config`: the reference of the configuration.
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/inspect_json.h"
#include "engine/cli/text.h"
#include "engine/config/reference.h"

namespace slide::cli {

namespace {

struct ConfigCommand {
  std::string key;
  bool doc = false;
  bool json = false;
};

nlohmann::ordered_json json_of_key(const KeyInfo& key) {
  nlohmann::ordered_json json = {{"key", key.name}, {"type", key.type}, {"default", key.value}};
  if (!key.value_of_last.empty()) json["default_of_last_layer"] = key.value_of_last;
  if (!key.range.empty()) json["range"] = key.range;
  json["meaning"] = key.meaning;
  return json;
}

void print_key(const KeyInfo& key) {
  const std::string last = key.value_of_last.empty() ? "" : fmt::format("; last layer {}", key.value_of_last);
  print("{} = {}{}  ({}{}{})\n", key.name, key.value, last, key.type, key.range.empty() ? "" : ": ",
        key.range);
  print("    {}\n", wrapped(key.meaning, 76, 4));
}

void run_config(const ConfigCommand& command) {
  if (command.doc) {
    if (!command.key.empty() || command.json)
      fail_input("config: --doc is the reference of all keys in Markdown; leave out the other arguments");
    return print_text(config_reference());
  }
  if (command.key.empty() && !command.json)
    fail_input("config: give a KEY, as train.epochs, or --json or --doc for all of them");
  const std::vector<KeyInfo> keys = command.key.empty() ? config_keys() : config_keys(command.key);
  if (!command.json) {
    for (const KeyInfo& key : keys) print_key(key);
    return;
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const KeyInfo& key : keys) all.push_back(json_of_key(key));
  print_text(text_of({{"keys", all}}));
}

}  // namespace

void add_config(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("config", "Document the configuration");
  const auto command = std::make_shared<ConfigCommand>();
  sub->footer("Every key can stand in a file or behind --set: slide train DATA --set train.epochs=3.");
  sub->add_option("KEY", command->key, "Key to explain, as train.epochs, or a section, as train")
      ->type_name("");
  sub->add_flag("--doc", command->doc, "Print every key with type, default, range and meaning (Markdown)");
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->callback([command, &action] { action = [command] { run_config(*command); }; });
}

}  // namespace slide::cli

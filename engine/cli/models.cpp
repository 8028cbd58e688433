// `slide models`: a registry: a folder of models, one of them current.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"
#include "engine/run/registry_changes.h"

namespace slide::cli {

namespace {

namespace fs = std::filesystem;

struct ModelsCommand {
  std::string action, folder;
  std::string what;  // of add a model, of use a name
  std::string name;  // --name
  bool json = false;
};

std::uint64_t bytes_of_model(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  return fs::file_size(registry_file(folder, name), ignored);
}

nlohmann::ordered_json json_of(const std::string& folder, const Registry& registry) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array(), changes = models;
  for (const std::string& name : registry_names(folder))
    models.push_back({{"name", name}, {"bytes", bytes_of_model(folder, name)}});
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  for (const RegistryChange& one : registry.changes)
    changes.push_back(
        {{"time", one.time}, {"action", one.action}, {"from", or_null(one.from)}, {"to", one.to}});
  return {{"folder", folder},
          {"current", or_null(registry.current())},
          {"before", or_null(registry.before())},
          {"models", models},
          {"changes", changes}};
}

void list_models(const ModelsCommand& command) {
  const std::string& folder = command.folder;
  if (!is_registry(folder))
    fail_input("{}: this is no registry of models; begin one: slide models add {} MODEL", folder, folder);
  const Registry registry = read_registry(folder);
  if (command.json)
    return print_text(
        json_of(folder, registry).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
        '\n');
  const std::vector<std::string> names = registry_names(folder);
  for (const std::string& name : names)
    print("{} {}  {}\n", name == registry.current() ? '*' : ' ', name,
          memory_text(double(bytes_of_model(folder, name))));
  const std::string current = registry.current();
  if (!current.empty() && std::ranges::find(names, current) == names.end())
    print("* {}  is gone; choose another: slide models use {} NAME\n", current, folder);
}

// Adds a model, or switches the current one, and says what is current.
void change_models(const ModelsCommand& command) {
  tolerate_closed_output();
  const std::string& folder = command.folder;
  const RegistryResult done = command.action == "add"   ? add_model(folder, command.what, command.name)
                              : command.action == "use" ? use_model(folder, command.what)
                                                        : rollback_model(folder);
  if (command.json) {
    return list_models(command);
  }
  if (done.name != done.current)
    return print("{}: added {}; the current model is {}\n", folder, done.name, done.current);
  if (done.before == done.current) return print("{}: {} is current already\n", folder, done.name);
  print("{}: {} is current{}\n", folder, done.name,
        done.before.empty() ? "" : fmt::format(", in place of {}", done.before));
}

void run_models(const ModelsCommand& command) {
  const bool adds = command.action == "add", uses = command.action == "use";
  if (command.what.empty() && (adds || uses))
    fail_input("models {}: give the {}", command.action, adds ? "model to add" : "name of the model to use");
  if (!command.what.empty() && !adds && !uses)
    fail_input("models {}: '{}' is one argument too many; it takes the folder alone", command.action,
               command.what);
  if (!command.name.empty() && !adds)
    fail_input("models {}: --name is for add; leave it out", command.action);
  command.action == "list" ? list_models(command) : change_models(command);
}

}  // namespace

void add_models(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("models", "Keep models in a folder, and say which of them is used");
  sub->footer(
      "add copies MODEL into FOLDER; the first one is current. use makes the model NAME current, "
      "rollback the one\n"
      "before it; list shows all, the current one with a star. All commands take FOLDER as a model: "
      "its current one. A server takes it up on SIGHUP. FOLDER/models.jsonl is the log of all changes.");
  const auto command = std::make_shared<ModelsCommand>();
  sub->add_option("ACTION", command->action, "What to do")
      ->required()
      ->option_text("add|use|rollback|list")
      ->check(CLI::IsMember({"add", "use", "rollback", "list"}));
  sub->add_option("FOLDER", command->folder, "Folder of models; add makes it")->required();
  sub->add_option("MODEL", command->what,
                  "add: a model file, or the folder of a run; use: the name of a model in FOLDER")
      ->option_text("MODEL|NAME");
  sub->add_option("--name", command->name, "add: what to call the model; default: as its file or folder")
      ->type_name("NAME");
  sub->add_flag("--json", command->json, "Print one JSON object: the folder after the change");
  sub->callback([command, &action] { action = [command] { run_models(*command); }; });
}

}  // namespace slide::cli

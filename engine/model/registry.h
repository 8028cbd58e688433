// A registry: a folder of models, one of which is current. The folder stands for that one wherever a command
// takes a model.
//
// Models are the files NAME.slide. The log models.jsonl has a JSON object a line for each change: "time",
// "action", "from" and "to". Which model is current follows from the log alone, so that a switch and its line
// are one change of one file. engine/run/registry_changes.h makes the changes. Functions are safe from any
// thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slide {

struct RegistryChange {
  std::string time;  // UTC
  std::string
      action;        // "add": a copy of the file `from` is called `to`; "use" and "rollback": `to` is current
  std::string from;  // of a switch the model that was current before, empty: none
  std::string to;

  bool operator==(const RegistryChange&) const = default;
};

struct Registry {
  std::vector<RegistryChange> changes;
  std::vector<std::string> used;  // the current model, last, before it those that rollbacks return to

  // Empty where no model has been current.
  std::string current() const { return used.empty() ? "" : used.back(); }
  // The model that was current before; empty: none.
  std::string before() const { return used.size() < 2 ? "" : used[used.size() - 2]; }
  // Appends a change and applies it. False where it does not fit to the changes before.
  bool take(const RegistryChange& change);
};

// The log of a folder.
std::string registry_log(const std::string& folder);
// Whether `folder` is a registry: it has a log.
bool is_registry(const std::string& folder);
// The registry that the log of a folder describes; empty without a log. Throws InputError for a damaged log.
Registry read_registry(const std::string& folder);
// The log as text.
std::string registry_text(const Registry& registry);

// The file of a model in a folder, and the names of all that are there, sorted.
std::string registry_file(const std::string& folder, std::string_view name);
std::vector<std::string> registry_names(const std::string& folder);

// The file of the current model of a registry. Throws InputError where it is missing.
std::string current_model(const std::string& folder);

}  // namespace slide

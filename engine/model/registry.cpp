#include "engine/model/registry.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "datasets/rows/line_chunks.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/input_file.h"

namespace slide {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kEnding = ".slide";

// Parses a line of the log; nullopt where it is none.
std::optional<RegistryChange> change_of(std::string_view line) {
  if (foreign_json_fault(line)) return std::nullopt;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  RegistryChange change;
  for (const auto& [key, value] : {std::pair("time", &change.time),
                                   {"action", &change.action},
                                   {"from", &change.from},
                                   {"to", &change.to}}) {
    const auto found = json.find(key);
    if (found == json.end()) return std::nullopt;
    if (found->is_string()) *value = found->get<std::string>();
  }
  return change;
}

}  // namespace

// Applies a change; false where it does not follow from those before. `used` is the stack of current models.
bool Registry::take(const RegistryChange& change) {
  if (change.to.empty()) return false;
  if (change.action == "use") {
    used.push_back(change.to);
  } else if (change.action == "rollback") {
    if (before() != change.to) return false;
    used.pop_back();
  } else if (change.action != "add") {
    return false;
  }
  changes.push_back(change);
  return true;
}

std::string registry_log(const std::string& folder) {
  return (fs::path(folder) / "models.jsonl").string();
}

bool is_registry(const std::string& folder) {
  std::error_code ignored;
  return fs::is_directory(folder, ignored) && fs::exists(registry_log(folder), ignored);
}

// Replays the log, line by line.
Registry read_registry(const std::string& folder) {
  Registry registry;
  if (!is_registry(folder)) return registry;
  const std::string path = registry_log(folder);
  const std::string text = read_text_file(path, "check the folder and its permissions");
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::optional<RegistryChange> change = change_of(take_line(rest));
    ++number;
    if (!change || !registry.take(*change))
      fail_input("{}:{}: this is no line of the log of 'slide models'; undo what changed the file", path,
                 number);
  }
  return registry;
}

std::string registry_text(const Registry& registry) {
  std::string text;
  for (const RegistryChange& change : registry.changes) {
    const Json line = {{"time", change.time},
                       {"action", change.action},
                       {"from", change.from.empty() ? Json() : Json(change.from)},
                       {"to", change.to}};
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  }
  return text;
}

std::string registry_file(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string() += kEnding;
}

std::vector<std::string> registry_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (file.size() > kEnding.size() && file.ends_with(kEnding) && entry.is_regular_file(ignored))
      names.push_back(file.substr(0, file.size() - kEnding.size()));
  }
  std::ranges::sort(names);
  return names;
}

std::string current_model(const std::string& folder) {
  const std::string name = read_registry(folder).current();
  if (name.empty())
    fail_input("{}: no model is current here; choose one: slide models use {} NAME", folder, folder);
  std::string file = registry_file(folder, name);
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    fail_input("{}: its current model {} is gone; choose another: slide models use {} NAME", folder, name,
               folder);
  return file;
}

}  // namespace slide

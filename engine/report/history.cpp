#include "engine/report/history.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/config/config.h"
#include "engine/config/fields.h"
#include "engine/run/run_log.h"

namespace slide::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::array kPhases = {"setup", "data", "hashing", "forward", "backward", "update", "rehash"};

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_input("{}: cannot be read; check the path and its permissions", path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// No value where the text is no JSON, or none that can be handled.
Json parse(std::string_view text) {
  return nests_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

fs::path log_of(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    fail_input("{}: there is no such run; name the folder given to 'slide train' with --out", path);
  }
  if (!fs::is_directory(path, ignored)) return path;
  fs::path log = fs::path(path) / "metrics.jsonl";
  if (!fs::exists(log, ignored)) {
    fail_input("{}: the folder has no metrics.jsonl; name the folder of a run of 'slide train'", path);
  }
  return log;
}

// Throws unless the event has these numbers.
void need_numbers(const Json& event, std::initializer_list<const char*> keys, const std::string& place) {
  for (const char* key : keys) {
    if (!event.contains(key) || !event[key].is_number()) {
      fail_input("{}: the event {} has no number '{}'; the log is damaged", place, event["event"].dump(),
                 key);
    }
  }
}

void take(Json event, const std::string& place, RunHistory& run) {
  const std::string& kind = event["event"].get_ref<const std::string&>();
  if (kind == "start") {
    run.start = std::move(event);
  } else if (kind == "epoch") {
    need_numbers(event, {"epoch", "loss", "train_seconds"}, place);
    run.epochs.push_back(std::move(event));
  } else if (kind == "eval" || kind == "validation") {
    need_numbers(event, {"epoch", "train_seconds", "eval_seconds"}, place);
    (kind == "eval" ? run.evals : run.validations).push_back(std::move(event));
  } else if (kind == "tables") {
    need_numbers(event, {"epoch", "layer", "buckets"}, place);
    if (!event.contains("histogram") || !event["histogram"].is_array()) {
      fail_input("{}: the event \"tables\" has no histogram; the log is damaged", place);
    }
    run.tables.push_back(std::move(event));
  }
}

void read_log(const std::string& text, RunHistory& run) {
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    Json event = parse(line);
    if (event.is_object() && event.contains("event") && event["event"].is_string()) {
      take(std::move(event), fmt::format("{}:{}", run.log, number), run);
    } else if (end == text.size()) {
      run.notes.push_back(
          fmt::format("The last line of metrics.jsonl, {}, was cut off and is left out.", number));
    } else {
      fail_input("{}:{}: this line is no event of a run; the file is damaged or no metrics.jsonl", run.log,
                 number);
    }
  }
}

void read_environment(const fs::path& folder, RunHistory& run) {
  std::error_code ignored;
  const bool open =
      RunLog::is_open(run.log);  // asked first: a run closes its log after it has said that it is finished
  const fs::path path = folder / "environment.json";
  if (fs::exists(path, ignored)) {
    Json facts = parse(read_text(path));
    if (facts.is_object()) run.environment = std::move(facts);
  }
  if (run.environment.is_object() && run.environment.value("finished", Json()) == Json(true)) {
    run.state = RunState::kFinished;
  } else if (open) {
    run.state = RunState::kRunning;
    run.notes.push_back("The run goes on; make the report again to see more of it.");
  } else if (run.environment.is_object()) {
    run.state = RunState::kInterrupted;
    run.notes.push_back("The run was interrupted; 'slide train --resume' goes on with it.");
  }
}

void read_settings(const fs::path& folder, RunHistory& run) {
  std::error_code ignored;
  const fs::path path = folder / "config.toml";
  if (!fs::exists(path, ignored)) {
    run.notes.push_back("There is no config.toml, so the settings are not compared.");
    return;
  }
  try {
    Config config = load_stored_config(path.string(), run.notes);
    for (const config::Section& section : config::all_sections(config)) {
      for (const config::Field& field : section.fields) {
        run.settings.emplace_back(fmt::format("{}.{}", section.name, field.key), config::value_text(field));
      }
    }
  } catch (const InputError& error) {
    run.notes.push_back(fmt::format("The settings are not compared: {}", error.what()));
  }
}

const char* state_text(RunState state) {
  constexpr std::array kTexts = {"finished", "running", "interrupted", "unknown"};
  return kTexts[std::size_t(state)];
}

// The last `parts` components of a path.
std::string end_of(const fs::path& path, std::size_t parts) {
  std::vector<std::string> names;
  for (const fs::path& part : path.relative_path()) names.push_back(part.string());
  std::string end;
  for (std::size_t i = names.size() - std::min(parts, names.size()); i < names.size(); ++i)
    end += (end.empty() ? "" : "/") + names[i];
  return end.empty() ? path.string() : end;
}

// Empty where the settings do not tell.
std::string setting_of(const RunHistory& run, std::string_view key) {
  for (const auto& [name, value] : run.settings) {
    if (name == key) return value;
  }
  return "";
}

constexpr std::string_view kTest = "test", kValidation = "validation", kNothing = "nothing";

std::string_view measured_on(const RunHistory& run) {
  return !run.evals.empty() ? kTest : !run.validations.empty() ? kValidation : kNothing;
}

// Whether two runs had the same data, by the labels of the samples or, in logs without their checksums, by
// the numbers of samples and labels. Logs that tell nothing do not differ.
bool same_data(const RunHistory& a, const RunHistory& b) {
  if (!a.start.is_object() || !b.start.is_object()) return true;
  if (a.start.contains("label_checksums") && b.start.contains("label_checksums"))
    return a.start["label_checksums"] == b.start["label_checksums"];
  for (const char* key : {"samples", "test_samples", "labels"}) {
    const Json one = a.start.value(key, Json()), other = b.start.value(key, Json());
    if (!one.is_null() && !other.is_null() && one != other) return false;
  }
  return true;
}

// Which samples validation holds out follows from these.
bool same_validation(const RunHistory& a, const RunHistory& b) {
  return setting_of(a, "data.validation") == setting_of(b, "data.validation") &&
         setting_of(a, "train.seed") == setting_of(b, "train.seed");
}

bool comparable(const RunHistory& a, const RunHistory& b) {
  if (!same_data(a, b)) return false;
  const std::string_view on = measured_on(a), other = measured_on(b);
  if (on == kNothing || other == kNothing) return true;
  return on == other && (on == kTest || same_validation(a, b));
}

// The name of the file that a setting has: "train.txt", or, of a list of files, "part1.txt and 3 more".
std::string name_of_file(std::string setting) {
  constexpr std::string_view kBetween = "\", \"";
  std::size_t others = 0;
  for (std::size_t at = setting.rfind(kBetween); at != std::string::npos; at = setting.rfind(kBetween)) {
    setting.resize(at);
    ++others;
  }
  if (others > 0) setting.erase(0, 1);  // the bracket
  std::erase(setting, '"');
  const std::string name = fs::path(setting).filename().string();
  return others == 0 ? name : fmt::format("{} and {} more", name, others);
}

// "train.txt (300 samples), measured on test.txt (70 samples)"
std::string title_of(const RunHistory& run) {
  const auto file = [&](const char* key, const char* otherwise) {
    const std::string name = name_of_file(setting_of(run, key));
    return name.empty() ? otherwise : name;
  };
  const auto count = [&](const char* key) {
    const Json value = run.start.is_object() ? run.start.value(key, Json()) : Json();
    return value.is_number_unsigned() ? fmt::format(" ({} samples)", value.get<std::uint64_t>()) : "";
  };
  const std::string train = file("data.train", "training data") + count("samples");
  const std::string_view on = measured_on(run);
  if (on == "test")
    return fmt::format("{}, measured on {}{}", train, file("data.test", "test data"), count("test_samples"));
  if (on == kNothing) return train + ", not measured";
  const std::string validated = file("data.validation", "");
  if (setting_of(run, "data.validation").find('"') != std::string::npos)
    return train + ", measured on " + validated;
  return train + ", measured on validation samples held out of it";
}

Json run_data(const RunHistory& run) {
  return {{"name", run.name},
          {"path", run.folder},
          {"state", state_text(run.state)},
          {"notes", run.notes},
          {"start", run.start},
          {"environment", run.environment},
          {"summary", summary_of(run)},
          {"epochs", run.epochs},
          {"evals", run.evals},
          {"validations", run.validations},
          {"tables", run.tables}};
}

}  // namespace

RunHistory read_run(const std::string& path) {
  const fs::path log = log_of(path);
  RunHistory run;
  run.log = log.string();
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(log, error);
  const bool in_folder = log.filename() == "metrics.jsonl";
  run.folder = (in_folder ? whole.parent_path() : whole).string();
  if (in_folder) {
    read_environment(log.parent_path(), run);
    read_settings(log.parent_path(), run);
  }
  read_log(read_text(log), run);
  if (run.epochs.empty()) run.notes.push_back("No epoch has ended yet.");
  if (!run.epochs.empty() && !run.start.is_object()) {
    run.notes.push_back(
        "The log has no start event: an older version of slide wrote it, and parts are missing here.");
  }
  return run;
}

void name_runs(std::vector<RunHistory>& runs) {
  std::vector<std::size_t> parts(runs.size(), 1);
  for (bool again = true; again;) {
    again = false;
    std::map<std::string, std::vector<std::size_t>> by_name;
    for (std::size_t i = 0; i < runs.size(); ++i) by_name[end_of(runs[i].folder, parts[i])].push_back(i);
    for (const auto& [name, same] : by_name) {
      std::set<std::string> folders;
      for (const std::size_t i : same) folders.insert(runs[i].folder);
      for (const std::size_t i : same) parts[i] += folders.size() > 1 ? 1 : 0;
      again = again || folders.size() > 1;
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].name = end_of(runs[i].folder, parts[i]);
}

Json differing_settings(std::span<const RunHistory> runs) {
  std::vector<std::string> keys;  // in order of first appearance
  std::map<std::string, std::vector<Json>> values;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const auto& [key, value] : runs[i].settings) {
      const auto [at, is_new] = values.try_emplace(key, runs.size());
      if (is_new) keys.push_back(key);
      at->second[i] = value;
    }
  }
  Json differences = Json::array();
  for (const std::string& key : keys) {
    std::set<std::string> distinct;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i].settings.empty()) distinct.insert(values[key][i].dump());
    }
    if (distinct.size() > 1) differences.push_back({{"key", key}, {"values", values[key]}});
  }
  return differences;
}

Json summary_of(const RunHistory& run) {
  Json summary = Json::object();
  const bool tested = !run.evals.empty();
  if (tested || !run.validations.empty()) {
    const Json& last = tested ? run.evals.back() : run.validations.back();
    summary["measured"] = tested ? "test" : "validation";
    summary["epoch"] = last["epoch"];
    for (const auto& [key, value] : last.items()) {
      if (key.find("_at_") != std::string::npos && value.is_number()) summary["measures"][key] = value;
    }
  }
  if (run.epochs.empty()) return summary;
  const Json& last = run.epochs.back();
  summary["train_seconds"] = last["train_seconds"];
  std::vector<double> speeds;
  double peak = 0.0;
  for (const Json& epoch : run.epochs) {
    if (const Json speed = epoch.value("samples_per_second", Json()); speed.is_number())
      speeds.push_back(speed);
    if (const Json memory = epoch.value("peak_rss_mb", Json()); memory.is_number())
      peak = std::max(peak, memory.get<double>());
  }
  if (!speeds.empty()) {
    std::nth_element(speeds.begin(), speeds.begin() + std::ptrdiff_t(speeds.size() / 2), speeds.end());
    summary["samples_per_second"] = speeds[speeds.size() / 2];
  }
  if (peak > 0.0) summary["peak_rss_mb"] = peak;
  for (const char* key : {"ranks", "bytes_sent", "seconds_waited"}) {
    if (const Json value = last.value(key, Json()); value.is_number()) summary[key] = value;
  }
  double known = 0.0;
  for (const char* phase : kPhases) {
    const Json value = last.value(fmt::format("{}_seconds", phase), Json());
    if (!value.is_number()) continue;
    summary["seconds"][phase] = value;
    known += value.get<double>();
  }
  if (!summary.contains("seconds") || summary["seconds"].size() != kPhases.size()) {
    summary.erase("seconds");  // not told by this log
    return summary;
  }
  summary["seconds"]["other"] = std::max(0.0, last["train_seconds"].get<double>() - known);
  double evaluation = 0.0;
  for (const auto* events : {&run.evals, &run.validations}) {
    for (const Json& event : *events) evaluation += event["eval_seconds"].get<double>();
  }
  summary["seconds"]["evaluation"] = evaluation;
  return summary;
}

RunGroups group_runs(std::span<const RunHistory> runs) {
  RunGroups groups{std::vector<std::size_t>(runs.size()), {}};
  std::vector<const RunHistory*> first;  // of each group
  // Those without measures last: they fit to any of the same data.
  for (const bool measured : {true, false}) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if ((measured_on(runs[i]) != kNothing) != measured) continue;
      std::size_t& group = groups.of[i];
      while (group < first.size() && !comparable(*first[group], runs[i])) ++group;
      if (group < first.size()) continue;
      first.push_back(&runs[i]);
      groups.titles.push_back(title_of(runs[i]));
    }
  }
  return groups;
}

Json report_data(std::vector<RunHistory> runs) {
  std::set<std::string> seen;
  std::erase_if(runs, [&](const RunHistory& run) { return !seen.insert(run.folder).second; });
  name_runs(runs);
  const RunGroups groups = group_runs(runs);
  Json data = {{"version", SLIDE_VERSION},
               {"differences", differing_settings(runs)},
               {"groups", groups.titles},
               {"runs", Json::array()}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    data["runs"].push_back(run_data(runs[i]));
    data["runs"].back()["group"] = groups.of[i];
  }
  return data;
}

}  // namespace slide::report

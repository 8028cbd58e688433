#include "engine/report/history.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/input_file.h"
#include "engine/config/config.h"
#include "engine/config/fields.h"
#include "engine/run/machine.h"
#include "engine/run/run_log.h"

namespace slide::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::array kPhases = {"setup", "data", "hashing", "forward", "backward", "update", "rehash"};

constexpr std::size_t kMaxLogBytes = std::size_t{1} << 30;  // a million epochs

std::string read_text(const fs::path& path, std::size_t max_bytes = kMaxTextBytes) {
  return read_text_file(path.string(), "check the path and its permissions", max_bytes);
}

// Returns a discarded value where the text is not JSON.
Json parse(std::string_view text) {
  return foreign_json_fault(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
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

// Throws unless the event has these keys, as numbers.
void need_numbers(const Json& event, std::initializer_list<const char*> keys, const std::string& place) {
  for (const char* key : keys) {
    if (!event.contains(key) || !event[key].is_number()) {
      fail_input("{}: the event {} has no number '{}'; the log is damaged", place, event["event"].dump(),
                 key);
    }
  }
}

// Adds an event of the log, by its kind, after checking the numbers that the page needs.
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

// A malformed last line is what a killed run leaves and gives a note; any other one is an error.
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

// Sets the state: finished by environment.json, running while its log is open, else interrupted.
void read_environment(const fs::path& folder, RunHistory& run) {
  std::error_code ignored;
  const bool open =
      RunLog::is_open(run.log);  // check first: a run marks itself finished before it closes its log
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

// Modification time of a file, in seconds since 1970.
std::optional<std::int64_t> seconds_of_file(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return {};
  return static_cast<std::int64_t>(facts.st_mtime);
}

// Sets end time and model size from environment.json, else from the files.
void read_facts(const fs::path& folder, const fs::path& log, RunHistory& run) {
  const Json date = run.environment.is_object() ? run.environment.value("date", Json()) : Json();
  if (date.is_string()) {
    run.date = date.get<std::string>();
  } else if (const std::optional<std::int64_t> written = seconds_of_file(log.string())) {
    run.date = utc_text(*written);
  }
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(folder / "model.slide", error);
  if (!error) run.model_mb = double(bytes) / double(1U << 20);
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

}  // namespace

// Reads a run from its folder, or only from a log elsewhere.
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
    read_facts(log.parent_path(), log, run);
  }
  read_log(read_text(log, kMaxLogBytes), run);
  if (run.epochs.empty()) run.notes.push_back("No epoch has ended yet.");
  if (!run.epochs.empty() && !run.start.is_object()) {
    run.notes.push_back(
        "The log has no start event: an older version of slide wrote it, and parts are missing here.");
  }
  return run;
}

namespace {

// Metrics of the last evaluation: on the test data, else on the validation data.
void add_metrics(const RunHistory& run, Json& summary) {
  const bool tested = !run.evals.empty();
  if (!tested && run.validations.empty()) return;
  const Json& last = tested ? run.evals.back() : run.validations.back();
  summary["measured"] = tested ? "test" : "validation";
  summary["epoch"] = last["epoch"];
  for (const auto& [key, value] : last.items()) {
    if (key.find("_at_") != std::string::npos && value.is_number()) summary["measures"][key] = value;
  }
}

// Median speed and peak memory of the epochs.
void add_speed(const RunHistory& run, Json& summary) {
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
}

// Seconds by phase of training, and of all evaluations. Nothing where the log lacks a phase.
void add_phase_seconds(const RunHistory& run, Json& summary) {
  const Json& last = run.epochs.back();
  Json seconds = Json::object();
  double known = 0.0;
  for (const char* phase : kPhases) {
    const Json value = last.value(fmt::format("{}_seconds", phase), Json());
    if (!value.is_number()) return;
    seconds[phase] = value;
    known += value.get<double>();
  }
  seconds["other"] = std::max(0.0, last["train_seconds"].get<double>() - known);
  double evaluation = 0.0;
  for (const auto* events : {&run.evals, &run.validations}) {
    for (const Json& event : *events) evaluation += event["eval_seconds"].get<double>();
  }
  seconds["evaluation"] = evaluation;
  summary["seconds"] = seconds;
}

}  // namespace

Json summary_of(const RunHistory& run) {
  Json summary = Json::object();
  add_metrics(run, summary);
  if (run.epochs.empty()) return summary;
  const Json& last = run.epochs.back();
  summary["train_seconds"] = last["train_seconds"];
  add_speed(run, summary);
  for (const char* key : {"ranks", "bytes_sent", "seconds_waited"}) {
    if (const Json value = last.value(key, Json()); value.is_number()) summary[key] = value;
  }
  add_phase_seconds(run, summary);
  return summary;
}

}  // namespace slide::report

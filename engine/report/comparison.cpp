#include "engine/report/comparison.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/error.h"

namespace slide::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The last `parts` components of a path.
std::string end_of(const fs::path& path, std::size_t parts) {
  std::vector<std::string> names;
  for (const fs::path& part : path.relative_path()) names.push_back(part.string());
  std::string end;
  for (std::size_t i = names.size() - std::min(parts, names.size()); i < names.size(); ++i)
    end += (end.empty() ? "" : "/") + names[i];
  return end.empty() ? path.string() : end;
}

// Empty where the settings do not have the key.
std::string setting_of(const RunHistory& run, std::string_view key) {
  for (const auto& [name, value] : run.settings) {
    if (name == key) return value;
  }
  return "";
}

Json started_with(const RunHistory& run, const char* key) {
  return run.start.is_object() ? run.start.value(key, Json()) : Json();
}

// Whether both values are known and different.
bool differ(const Json& one, const Json& other) {
  return !one.is_null() && !other.is_null() && one != other;
}

// Whether two runs used the same samples of a kind, compared by the checksum of their labels, or in logs
// without it by the given counts.
bool same_samples(const RunHistory& a, const RunHistory& b, const char* kind,
                  std::initializer_list<const char*> numbers) {
  const Json one = started_with(a, "label_checksums"), other = started_with(b, "label_checksums");
  if (one.is_object() && other.is_object())
    return !differ(one.value(kind, Json()), other.value(kind, Json()));
  return std::none_of(numbers.begin(), numbers.end(),
                      [&](const char* key) { return differ(started_with(a, key), started_with(b, key)); });
}

bool same_data(const RunHistory& a, const RunHistory& b) {
  return same_samples(a, b, "train", {"samples", "labels"});
}

bool same_test(const RunHistory& a, const RunHistory& b) {
  return same_samples(a, b, "test", {"test_samples"});
}

// Whether validation holds out the latest samples by time, without random choice.
bool holds_latest_out(const RunHistory& run) {
  const std::string times = setting_of(run, "data.time");
  return !times.empty() && times != "\"\"";
}

// Whether the settings that determine the validation samples are equal.
bool same_validation(const RunHistory& a, const RunHistory& b) {
  const auto same = [&](const char* key) { return setting_of(a, key) == setting_of(b, key); };
  return same("data.validation") && same("data.group") && same("data.time") &&
         (holds_latest_out(a) || same("train.seed"));
}

// File name of a setting with its folder, which often distinguishes data sets: "set/train.txt"; for a list of
// files "set/part1.txt and 3 more".
std::string name_of_file(std::string setting) {
  constexpr std::string_view kBetween = "\", \"";  // files of a list ["a", "b"]
  std::size_t others = 0;                          // files after the first
  for (std::size_t at = setting.rfind(kBetween); at != std::string::npos; at = setting.rfind(kBetween)) {
    setting.resize(at);
    ++others;
  }
  if (others > 0) setting.erase(0, 1);  // the bracket
  std::erase(setting, '"');
  const std::string name = setting.empty() ? "" : end_of(setting, 2);
  return others == 0 ? name : fmt::format("{} and {} more", name, others);
}

// e.g. "set/train.txt (300 samples)"
std::string samples_title(const RunHistory& run, const char* key, const char* otherwise, const char* number) {
  const std::string name = name_of_file(setting_of(run, key));
  const Json count = started_with(run, number);
  return (name.empty() ? otherwise : name) +
         (count.is_number_unsigned() ? fmt::format(" ({} samples)", count.get<std::uint64_t>()) : "");
}

std::string data_title(const RunHistory& run) {
  return samples_title(run, "data.train", "training data", "samples");
}

std::string validation_title(const RunHistory& run) {
  const std::string setting = setting_of(run, "data.validation");
  if (setting.find('"') != std::string::npos) return name_of_file(setting);
  if (setting.empty()) return "validation samples held out of it";
  const Json by = started_with(run, "validation_by");
  std::string how = setting;
  if (by.is_string() && by != "random") how += " by " + by.get<std::string>();
  if (!holds_latest_out(run)) how += ", seed " + setting_of(run, "train.seed");
  return fmt::format("validation samples held out of it ({})", how);
}

// Adds a run to the split that `fits` accepts, or to a new split.
template <class Fits>
void add_to_split(DataGroup& group, std::size_t run, bool is_test, const std::string& title,
                  const Fits& fits) {
  const auto found = std::find_if(group.splits.begin(), group.splits.end(), [&](const SplitGroup& split) {
    return split.is_test == is_test && fits(split.runs.front());
  });
  if (found != group.splits.end()) {
    found->runs.push_back(run);
  } else {
    group.splits.push_back({is_test, title, {run}});
  }
}

// Uses the title of the run with most samples: with validation, a run counts only the remaining samples.
void take_title(const RunHistory& run, DataGroup& group, std::uint64_t& largest) {
  const Json samples = started_with(run, "samples");
  const std::uint64_t count = samples.is_number_unsigned() ? samples.get<std::uint64_t>() : 0;
  if (!group.title.empty() && count <= largest) return;
  group.title = data_title(run);
  largest = count;
}

// Settings of what a run writes beside its model, none of which changes the model.
bool is_of_outputs(const std::string& key) {
  static const std::set<std::string> kOutputs = {"data.cache", "train.checkpoint_every",
                                                 "train.save_optimizer", "train.tensorboard"};
  return kOutputs.contains(key);
}

// Text that is equal for runs that differ only in their seeds and outputs; empty where unknown.
std::string but_for_the_seed(const RunHistory& run) {
  std::string text;
  for (const auto& [key, value] : run.settings) {
    if (key != "train.seed" && !is_of_outputs(key)) text += fmt::format("{}={}\n", key, value);
  }
  if (text.empty()) return text;
  for (const char* key : {"processor", "instruction_set", "threads"}) {
    if (run.environment.is_object()) text += run.environment.value(key, Json()).dump();
  }
  return text;
}

// e.g. "runs/a (3 seeds)" for "runs/a-1", "runs/a-2" and "runs/a-3".
std::string name_of_seeds(std::span<const RunHistory> runs, std::span<const std::size_t> members) {
  std::string name = runs[members.front()].name;
  for (const std::size_t i : members) {
    const std::string& other = runs[i].name;
    const auto differs = std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first;
    name.erase(differs, name.end());
  }
  for (const std::string_view word : {"-", "_", "/", ".", " ", "seed", "s", "-", "_", "/"}) {
    if (name.ends_with(word)) name.resize(name.size() - word.size());
  }
  if (name.empty()) name = runs[members.front()].name;
  return fmt::format("{} ({} seeds)", name, members.size());
}

const char* state_text(RunState state) {
  constexpr std::array kTexts = {"finished", "running", "interrupted", "unknown"};
  return kTexts[std::size_t(state)];
}

Json run_data(const RunHistory& run) {
  Json data = {{"name", run.name},
               {"path", run.folder},
               {"state", state_text(run.state)},
               {"notes", run.notes},
               {"start", run.start},
               {"environment", run.environment},
               {"date", run.date},
               {"summary", summary_of(run)},
               {"epochs", run.epochs},
               {"evals", run.evals},
               {"validations", run.validations},
               {"tables", run.tables}};
  if (run.model_mb > 0.0) data["model_mb"] = run.model_mb;
  if (const std::string seed = setting_of(run, "train.seed"); !seed.empty()) data["seed"] = seed;
  return data;
}

Json groups_data(std::span<const DataGroup> groups) {
  Json all = Json::array();
  for (const DataGroup& group : groups) {
    Json splits = Json::array();
    for (const SplitGroup& split : group.splits)
      splits.push_back({{"title", split.title}, {"test", split.is_test}, {"runs", split.runs}});
    all.push_back({{"title", group.title}, {"runs", group.runs}, {"splits", splits}});
  }
  return all;
}

}  // namespace

// Lengthens equal names by one more parent folder, until runs of different folders have different names.
void name_runs(std::vector<RunHistory>& runs) {
  std::vector<std::size_t> parts(runs.size(), 1);  // components of each folder that its name has
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

// Collects the values of each key over all runs (null where missing), and keeps the keys with more than one
// value.
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
  std::stable_partition(keys.begin(), keys.end(), [](const std::string& key) { return !is_of_outputs(key); });
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

std::vector<DataGroup> group_runs(std::span<const RunHistory> runs) {
  std::vector<DataGroup> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const DataGroup& each) {
      return same_data(runs[each.runs.front()], runs[i]);
    });
    if (group == groups.end()) group = groups.insert(group, DataGroup{});
    group->runs.push_back(i);
    if (!runs[i].evals.empty()) {
      add_to_split(*group, i, true, samples_title(runs[i], "data.test", "test data", "test_samples"),
                   [&](std::size_t first) { return same_test(runs[first], runs[i]); });
    }
    if (!runs[i].validations.empty()) {
      add_to_split(*group, i, false, validation_title(runs[i]),
                   [&](std::size_t first) { return same_validation(runs[first], runs[i]); });
    }
  }
  for (DataGroup& group : groups) {
    std::uint64_t largest = 0;
    for (const std::size_t i : group.runs) take_title(runs[i], group, largest);
    std::stable_partition(group.splits.begin(), group.splits.end(),
                          [](const SplitGroup& split) { return split.is_test; });
  }
  return groups;
}

// A title for each split, and for each group without evaluations. A split that contains all evaluated runs
// stands alone.
std::vector<std::string> titles_of(std::span<const DataGroup> groups) {
  std::set<std::size_t> measured;
  for (const DataGroup& group : groups) {
    for (const SplitGroup& split : group.splits) measured.insert(split.runs.begin(), split.runs.end());
  }
  std::vector<std::string> titles;
  for (const DataGroup& group : groups) {
    for (const SplitGroup& split : group.splits) {
      const std::string title = fmt::format("{}, measured on {}", group.title, split.title);
      if (split.runs.size() == measured.size()) return {title};
      titles.push_back(title);
    }
    if (group.splits.empty()) titles.push_back(group.title + ", not measured");
  }
  return titles;
}

// Groups runs of equal data and settings; a seed that a group has already begins another group.
std::vector<SeedGroup> seed_groups(std::span<const RunHistory> runs, std::span<const DataGroup> data) {
  struct Members {
    std::string key;              // of the data and the settings without the seed
    std::set<std::string> seeds;  // all different
    std::vector<std::size_t> runs;
  };
  std::vector<Members> found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto at = std::ranges::find_if(
        data, [&](const DataGroup& group) { return std::ranges::find(group.runs, i) != group.runs.end(); });
    const std::string settings = but_for_the_seed(runs[i]);
    const std::string key = fmt::format("{} {}", at - data.begin(), settings);
    const std::string seed = setting_of(runs[i], "train.seed");
    auto group = settings.empty() ? found.end() : std::ranges::find_if(found, [&](const Members& each) {
      return each.key == key && !each.seeds.contains(seed);
    });
    if (group == found.end()) group = found.insert(group, Members{key, {}, {}});
    group->seeds.insert(seed);
    group->runs.push_back(i);
  }
  std::vector<SeedGroup> groups;
  for (Members& group : found) {
    const bool is_single = group.runs.size() == 1;
    const std::string name = is_single ? runs[group.runs.front()].name : name_of_seeds(runs, group.runs);
    groups.push_back({name, std::move(group.runs)});
  }
  return groups;
}

Json report_data(std::vector<RunHistory> runs) {
  std::set<std::string> seen;
  std::erase_if(runs, [&](const RunHistory& run) { return !seen.insert(run.folder).second; });
  name_runs(runs);
  const std::vector<DataGroup> groups = group_runs(runs);
  Json data = {{"version", SLIDE_VERSION},      {"differences", differing_settings(runs)},
               {"groups", groups_data(groups)}, {"titles", titles_of(groups)},
               {"lines", Json::array()},        {"runs", Json::array()}};
  for (const SeedGroup& line : seed_groups(runs, groups))
    data["lines"].push_back({{"name", line.name}, {"runs", line.runs}});
  for (const RunHistory& run : runs) data["runs"].push_back(run_data(run));
  return data;
}

}  // namespace slide::report

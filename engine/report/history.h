// Training runs as their folders tell them, and what a report says about several of them. Functions without
// state, safe from any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace slide::report {

enum class RunState {
  kFinished,
  kRunning,
  kInterrupted,
  kUnknown,  // a log alone
};

// The lines of metrics.jsonl by event, as objects (engine/run_log.h), and what lies beside it.
struct RunHistory {
  std::string folder;  // absolute; of a log with a name of its own, that file
  std::string log;
  std::string name;  // see name_runs()
  RunState state = RunState::kUnknown;
  std::vector<std::string> notes;      // what a reader should know, a sentence each
  nlohmann::ordered_json start;        // null in logs without it
  nlohmann::ordered_json environment;  // null without environment.json
  std::vector<nlohmann::ordered_json> epochs, evals, validations, tables;
  std::vector<std::pair<std::string, std::string>>
      settings;  // "train.epochs", "5": of config.toml, in its order
};

// The run in a folder, or whose metrics.jsonl `path` is. A last line that was cut off is left out with a
// note; lines of unknown events are skipped. Throws InputError when there is no log or a line of it is
// damaged.
RunHistory read_run(const std::string& path);

// Names each run after its folder, with as much of the path before it as tells apart runs of one name. No two
// runs are of one folder.
void name_runs(std::vector<RunHistory>& runs);

// Keys whose values are not the same in all runs that have settings: {"key":..,"values":[..]}, null for a run
// without the key.
nlohmann::ordered_json differing_settings(std::span<const RunHistory> runs);

// The newest of a run's evaluations, on the test samples if there are any, and its totals:
// {"measured":"test","epoch":..,"measures":{"p_at_1":..},"train_seconds":..,"samples_per_second":..,
//  "peak_rss_mb":..,"ranks":..,"bytes_sent":..,"seconds_waited":..,"seconds":{"setup":..,..,
//  "evaluation":..}}; what is not known is missing.
nlohmann::ordered_json summary_of(const RunHistory& run);

// Of each run the number of its group, from 0, and what the groups are called. Measures compare within a
// group: its runs had the same data and were measured on the same samples, as far as their logs tell.
struct RunGroups {
  std::vector<std::size_t> of;
  std::vector<std::string> titles;
};
RunGroups group_runs(std::span<const RunHistory> runs);

// All that the page shows: {"version":..,"differences":[..],"groups":[titles],"runs":[..]}, each run once,
// however often it is given. Calls name_runs() before.
nlohmann::ordered_json report_data(std::vector<RunHistory> runs);

}  // namespace slide::report

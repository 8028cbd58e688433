// What a report says about several runs: their names, what differs in their settings, and which of them
// compare. Functions without state, safe from any thread.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/report/history.h"

namespace slide::report {

// Names each run after its folder, with as much of the path before it as tells apart runs of one name. No two
// runs are of one folder.
void name_runs(std::vector<RunHistory>& runs);

// Keys whose values are not the same in all runs that have settings: {"key":..,"values":[..]}, null for a run
// without the key.
nlohmann::ordered_json differing_settings(std::span<const RunHistory> runs);

// Runs that were measured on the same samples, as far as their logs tell: their measures compare.
struct SplitGroup {
  bool is_test = false;           // else held out for validation
  std::string title;              // "set/test.txt (70 samples)"
  std::vector<std::size_t> runs;  // by number, ascending
};

// Runs of the same training data. What they took and needed compares, and within a split what they reached. A
// run that was tested and validated is in two splits, one that was not measured in none.
struct DataGroup {
  std::string title;  // "set/train.txt (300 samples)"
  std::vector<std::size_t> runs;
  std::vector<SplitGroup> splits;  // tests first
};

// Each run is in one group, groups are in order of their first runs.
std::vector<DataGroup> group_runs(std::span<const RunHistory> runs);

// Runs within which measures compare, as "set/train.txt (300 samples), measured on set/test.txt (70
// samples)": one title where a split has all runs that were measured, else that of each split.
std::vector<std::string> titles_of(std::span<const DataGroup> groups);

// Runs that differ in train.seed alone, on the same data and kind of machine: they are shown as one.
struct SeedGroup {
  std::string name;  // of a run alone its own
  std::vector<std::size_t> runs;
};
// Each run is in one; `runs` have names.
std::vector<SeedGroup> seed_groups(std::span<const RunHistory> runs, std::span<const DataGroup> data);

// All that the page shows:
// {"version":..,"differences":[..],"titles":titles_of(),"groups":[{"title":..,"runs":[..],"splits":
// [{"title":..,"test":true,"runs":[..]}]}],"lines":[{"name":..,"runs":[..]}],"runs":[..]}, each run once,
// however often it is given. Calls name_runs() before.
nlohmann::ordered_json report_data(std::vector<RunHistory> runs);

}  // namespace slide::report

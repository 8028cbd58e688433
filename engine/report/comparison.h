// Comparison of several training runs for the report: names, differing settings, and groups of comparable
// runs. Stateless functions, safe from any thread.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/report/history.h"

namespace slide::report {

// Names each run after its folder, with as much of the parent path as makes names unique. No two runs have
// the same folder.
void name_runs(std::vector<RunHistory>& runs);

// Settings whose values differ between the runs that have settings, as {"key":..,"values":[..]}, a value per
// run, null for a run without the key. Settings of outputs stand last.
nlohmann::ordered_json differing_settings(std::span<const RunHistory> runs);

// Runs measured on the same samples, as far as their logs say: their metrics are comparable.
struct SplitGroup {
  bool is_test = false;           // else held out for validation
  std::string title;              // e.g. "set/test.txt (70 samples)"
  std::vector<std::size_t> runs;  // indices, ascending
};

// Runs on the same training data: their time and memory are comparable, and within a split their metrics. A
// run that was tested and validated is in two splits, a run without evaluation in none.
struct DataGroup {
  std::string title;  // e.g. "set/train.txt (300 samples)"
  std::vector<std::size_t> runs;
  std::vector<SplitGroup> splits;  // test splits first
};

// Each run is in exactly one group; groups are in order of their first runs.
std::vector<DataGroup> group_runs(std::span<const RunHistory> runs);

// Titles of the sets of comparable runs, e.g. "set/train.txt (300 samples), measured on set/test.txt (70
// samples)": one title where one split has all measured runs, else one per split.
std::vector<std::string> titles_of(std::span<const DataGroup> groups);

// Runs that differ only in train.seed and in what they write beside the model, on the same data and kind of
// machine; shown as one.
struct SeedGroup {
  std::string name;  // for a single run, the run's name
  std::vector<std::size_t> runs;
};
// Each run is in exactly one group; `runs` must have names.
std::vector<SeedGroup> seed_groups(std::span<const RunHistory> runs, std::span<const DataGroup> data);

// All data of the page:
// {"version":..,"differences":[..],"titles":titles_of(),"groups":[{"title":..,"runs":[..],"splits":
// [{"title":..,"test":true,"runs":[..]}]}],"lines":[{"name":..,"runs":[..]}],"runs":[..]}; duplicates of a
// run are dropped. Calls name_runs() first.
nlohmann::ordered_json report_data(std::vector<RunHistory> runs);

}  // namespace slide::report

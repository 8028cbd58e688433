// Writes report pages to files. Safe from any thread, for different files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/evaluation.h"
#include "engine/report/search.h"

namespace slide::report {

// Notes on a written page.
struct ReportSummary {
  std::size_t runs = 0;             // distinct runs
  std::vector<std::string> notes;   // on runs, one line each
  std::vector<std::string> groups;  // titles of the sets of comparable runs
  std::size_t running = 0;          // runs that have not ended yet
};

// Writes the page that compares `runs` (folders of `slide train`, or their logs) to `path`, atomically.
// Throws InputError for invalid runs and where `path` is a folder or a file that is not a report; Error where
// it cannot be written. `reload_seconds`: how often the page loads itself again while it is open; 0 = never.
// Messages name `path` by `option`.
ReportSummary write_report(const std::vector<std::string>& runs, const std::string& path,
                           int reload_seconds = 0, const char* option = "--out");

// Throws InputError where `path` is a folder or a file that is not a report: reports replace only reports.
// `option` names the option to change in the message.
void check_report_file(const std::string& path, std::string_view option);

// Writes the page of a configuration search in the same way.
void write_search_report(const SearchHistory& search, const std::string& path);

// Writes the page of an evaluation in the same way; parameters as evaluation_data().
void write_evaluation_report(const std::string& name, const nlohmann::ordered_json& results,
                             std::span<const CurvePoint> curve, const std::string& path);

}  // namespace slide::report

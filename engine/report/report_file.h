// The pages about some runs and about a search as files. Safe to call from any thread, for different files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/search.h"

namespace slide::report {

// What a reader of the page should know.
struct ReportSummary {
  std::size_t runs = 0;             // each counted once
  std::vector<std::string> notes;   // on a run, a line each
  std::vector<std::string> groups;  // titles of those within which runs compare
};

// Writes the page that compares `runs`, folders of `slide train` or their logs, to `path`, which gets its
// name when it is whole. Throws InputError for the runs, and when `path` is a folder or a file that is no
// report, Error when it cannot be written.
ReportSummary write_report(const std::vector<std::string>& runs, const std::string& path);

// Throws InputError where `path` is a folder or a file that is no report, which the functions here do not
// replace; `option` is what names another file.
void check_report_file(const std::string& path, std::string_view option);

// Writes the page about a search in the same way.
void write_search_report(const SearchHistory& search, const std::string& path);

}  // namespace slide::report

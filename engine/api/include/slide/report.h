// Comparison page of training runs, as `slide report`. Safe from any thread, for different files.
#pragma once

#include <slide/export.h>

#include <cstddef>
#include <string>
#include <vector>

namespace slide::api {

// Notes on a written page.
struct ReportSummary {
  std::size_t runs = 0;             // distinct runs
  std::vector<std::string> notes;   // on runs, one line each
  std::vector<std::string> groups;  // titles of the sets of comparable runs
};

// Writes an HTML page about `runs` (folders of `slide train`, or their metrics.jsonl) to `path`, atomically.
// Throws InputError for invalid runs and where `path` is a folder or a file that is not a report; Error where
// it cannot be written.
SLIDE_API ReportSummary write_report(const std::vector<std::string>& runs, const std::string& path);

}  // namespace slide::api

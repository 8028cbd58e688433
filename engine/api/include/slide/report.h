// The page that compares training runs; `slide report` for programs. Safe to call from any thread, for
// different files.
#pragma once

#include <slide/export.h>

#include <cstddef>
#include <string>
#include <vector>

namespace slide::api {

// What a reader of the page should know.
struct ReportSummary {
  std::size_t runs = 0;             // each counted once
  std::vector<std::string> notes;   // on a run, a line each
  std::vector<std::string> groups;  // titles of those within which runs compare
};

// Writes a page of HTML about `runs`, folders of `slide train` or their metrics.jsonl, to `path`, which gets
// its name when it is whole. Throws InputError for the runs, and when `path` is a folder or a file that is no
// report, Error when it cannot be written.
SLIDE_API ReportSummary write_report(const std::vector<std::string>& runs, const std::string& path);

}  // namespace slide::api

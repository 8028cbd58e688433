#include <slide/report.h>

#include <utility>

#include "engine/api/arguments.h"
#include "engine/api/internals.h"
#include "engine/report/report_file.h"

namespace slide::api {

ReportSummary write_report(const std::vector<std::string>& runs, const std::string& path) {
  return guarded([&] {
    for (const std::string& run : runs) checked_path(run);
    report::ReportSummary written = report::write_report(runs, checked_path(path), 0, "`path`");
    return ReportSummary{written.runs, std::move(written.notes), std::move(written.groups)};
  });
}

}  // namespace slide::api

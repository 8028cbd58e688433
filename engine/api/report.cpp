#include <slide/report.h>

#include <utility>

#include "engine/api/internals.h"
#include "engine/report/report_file.h"

namespace slide::api {

ReportSummary write_report(const std::vector<std::string>& runs, const std::string& path) {
  return guarded([&] {
    report::ReportSummary written = report::write_report(runs, path);
    return ReportSummary{written.runs, std::move(written.notes), std::move(written.groups)};
  });
}

}  // namespace slide::api

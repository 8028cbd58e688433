#include "engine/report/report_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/model/output_files.h"
#include "engine/report/comparison.h"
#include "engine/report/history.h"
#include "engine/report/page.h"

namespace slide::report {

namespace fs = std::filesystem;

// A report may replace only a report.
void check_report_file(const std::string& path, std::string_view option) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || is_pipe_or_device(path)) return;
  if (fs::is_directory(path, ignored)) fail_input("{}: is a folder; name a file with {}", path, option);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail_run("{}: cannot be read ({}), so whether it is a report is not known; name another file with {}",
             path, std::generic_category().message(errno), option);
  }
  std::string beginning(1024, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  if (file.gcount() > 0 && !is_page(beginning)) {
    fail_input("{}: exists and is no report; remove it, or name another file with {}", path, option);
  }
}

// Reads all runs, writes the page, and summarises what it says about them.
ReportSummary write_report(const std::vector<std::string>& runs, const std::string& path, int reload_seconds,
                           const char* option) {
  check_report_file(path, option);
  check_outputs(std::array{OutputFile{option, path}}, runs);
  std::vector<RunHistory> histories;
  for (const std::string& run : runs) histories.push_back(read_run(run));
  ReportSummary summary;
  const auto runs_on = [](const RunHistory& run) { return run.state == RunState::kRunning; };
  summary.running = static_cast<std::size_t>(std::ranges::count_if(histories, runs_on));
  nlohmann::ordered_json data = report_data(std::move(histories));
  if (reload_seconds > 0) data["live"] = reload_seconds;
  write_file(path, make_page(PageKind::kRuns, data));
  summary.runs = data["runs"].size();
  for (const auto& run : data["runs"]) {
    for (const auto& note : run["notes"])
      summary.notes.push_back(run["name"].get<std::string>() + ": " + note.get<std::string>());
  }
  for (const auto& title : data["titles"]) summary.groups.push_back(title.get<std::string>());
  return summary;
}

void write_search_report(const SearchHistory& search, const std::string& path) {
  check_report_file(path, "--report");
  write_file(path, make_page(PageKind::kSearch, search_data(search)));
}

void write_evaluation_report(const std::string& name, const nlohmann::ordered_json& results,
                             std::span<const CurvePoint> curve, const std::string& path) {
  check_report_file(path, "--report");
  write_file(path, make_page(PageKind::kEvaluation, evaluation_data(name, results, curve)));
}

}  // namespace slide::report

#include <filesystem>
#include <fstream>
#include <system_error>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"
#include "engine/report/history.h"
#include "engine/report/page.h"

namespace slide::cli {

namespace {

namespace fs = std::filesystem;

// A report may replace a report, and nothing else.
void check_output(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  if (fs::is_directory(path, ignored)) fail_input("{}: is a folder; name a file with --out", path);
  std::ifstream file(path, std::ios::binary);
  std::string beginning(1024, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  if (file.gcount() > 0 && !report::is_page(beginning)) {
    fail_input("{}: exists and is no report; remove it, or name another file with --out", path);
  }
}

}  // namespace

void run_report(const ReportCommand& command) {
  check_output(command.out);
  std::vector<report::RunHistory> runs;
  for (const std::string& run : command.runs) runs.push_back(report::read_run(run));
  const nlohmann::ordered_json data = report::report_data(std::move(runs));
  for (const auto& run : data["runs"]) {
    for (const auto& note : run["notes"]) {
      print("{}: {}\n", run["name"].get<std::string>(), note.get<std::string>());
    }
  }
  write_file(command.out, report::make_page(data));
  print("wrote {} about {} run{}; open it in a browser\n", command.out, command.runs.size(),
        command.runs.size() == 1 ? "" : "s");
}

}  // namespace slide::cli

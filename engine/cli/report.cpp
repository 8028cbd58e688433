// `slide report`: the page that compares runs.
#include <filesystem>
#include <fstream>
#include <memory>
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

struct ReportCommand {
  std::vector<std::string> runs;  // folders, or their metrics.jsonl
  std::string out = "report.html";
};

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

void run_report(const ReportCommand& command) {
  go_on_without_output();
  check_output(command.out);
  std::vector<report::RunHistory> runs;
  for (const std::string& run : command.runs) runs.push_back(report::read_run(run));
  const nlohmann::ordered_json data = report::report_data(std::move(runs));
  for (const auto& run : data["runs"]) {
    for (const auto& note : run["notes"]) {
      print("{}: {}\n", run["name"].get<std::string>(), note.get<std::string>());
    }
  }
  if (data["groups"].size() > 1) {
    print("the runs are not all measured on the same data; compare within these groups only:\n");
    for (const auto& title : data["groups"]) print("  {}\n", title.get<std::string>());
  }
  write_file(command.out, report::make_page(data));
  print("wrote {} about {} run{}; open it in a browser\n", command.out, data["runs"].size(),
        data["runs"].size() == 1 ? "" : "s");
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("report", "Compare training runs on one page of HTML");
  sub->footer(
      "The page needs no network and no other file: curves, time by phase, hash tables, accuracy by label "
      "frequency\n"
      "and memory of the runs, and what differs in their settings. Runs that still go on or were stopped can "
      "be\n"
      "among them. FILE is replaced when it is a report.");
  const auto command = std::make_shared<ReportCommand>();
  sub->add_option("RUN", command->runs,
                  "Folder of a run of 'slide train', or its metrics.jsonl; may be repeated")
      ->required();
  sub->add_option("-o,--out", command->out, "File to write")->capture_default_str()->type_name("FILE");
  sub->callback([command, &action] { action = [command] { run_report(*command); }; });
}

}  // namespace slide::cli

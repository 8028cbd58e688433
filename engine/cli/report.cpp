// `slide report`: a page that compares runs.
#include "engine/report/report_file.h"

#include <memory>

#include "engine/cli/commands.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

struct ReportCommand {
  std::vector<std::string> runs;  // folders, or their metrics.jsonl
  std::string out = "report.html";
};

void run_report(const ReportCommand& command) {
  go_on_without_output();
  const report::ReportSummary summary = report::write_report(command.runs, command.out);
  for (const std::string& note : summary.notes) print("{}\n", note);
  if (summary.groups.size() > 1) {
    print("the runs are not all measured on the same data; compare within these groups only:\n");
    for (const std::string& title : summary.groups) print("  {}\n", title);
  }
  print("wrote {} about {} run{}; open it in a browser\n", command.out, summary.runs,
        summary.runs == 1 ? "" : "s");
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

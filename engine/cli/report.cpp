// `slide report`: a page that compares runs.
#include "engine/report/report_file.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>

#include "engine/cli/commands.h"
#include "engine/cli/stop_signal.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

struct ReportCommand {
  std::vector<std::string> runs;  // folders, or their metrics.jsonl
  std::string out = "report.html";
  bool watch = false;
};

constexpr int kReloadSeconds = 5;
constexpr std::chrono::milliseconds kStep(100);  // between looks for a signal

// Sleeps until the page is to be written again, or a signal comes.
void wait_for_more() {
  constexpr std::chrono::milliseconds kAll(1000 * kReloadSeconds);
  for (std::chrono::milliseconds slept(0); slept < kAll && StopSignal::came() == 0; slept += kStep)
    std::this_thread::sleep_for(kStep);
}

// Waits until a run, a folder or its log, has begun its log. Throws Ended at a signal.
void wait_for_log(const std::string& run) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_log = fs::path(run).extension() == ".jsonl" || fs::is_regular_file(run, ignored);
  const fs::path log = is_log ? fs::path(run) : fs::path(run) / "metrics.jsonl";
  const auto has_begun = [&] { return fs::exists(log, ignored) && fs::file_size(log, ignored) > 0; };
  if (fs::exists(log, ignored)) return;
  print("{} is not there yet; waiting for the run to begin; Ctrl-C ends that\n", log.string());
  for (; !has_begun(); std::this_thread::sleep_for(kStep)) {
    if (const int signal = StopSignal::came(); signal != 0) throw Ended{128 + signal};
  }
}

// Writes a page that loads itself again, until no run goes on.
void watch_runs(const ReportCommand& command) {
  for (bool first = true;; first = false) {
    const std::size_t running = report::write_report(command.runs, command.out, kReloadSeconds).running;
    if (running == 0 || StopSignal::came() != 0) return;
    if (first) {
      print("{} is written every {} s while {} run{}; Ctrl-C ends that\n", command.out, kReloadSeconds,
            running == 1 ? "the" : fmt::format("{}", running), running == 1 ? " goes on" : "s go on");
    }
    wait_for_more();
  }
}

void run_report(const ReportCommand& command) {
  tolerate_closed_output();
  StopSignal stop("");
  if (command.watch) {
    stop.note_only();
    for (const std::string& run : command.runs) wait_for_log(run);
    watch_runs(command);
  }
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
  sub->add_flag("--watch", command->watch,
                "Write FILE again and again until no RUN goes on; it reloads itself");
  sub->callback([command, &action] { action = [command] { run_report(*command); }; });
}

}  // namespace slide::cli

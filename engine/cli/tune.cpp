// `slide tune`: searches for a better configuration, one line per trial.
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "datasets/formats/dense_data.h"
#include "datasets/rows/data_parts.h"
#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/options.h"
#include "engine/cli/ranks.h"
#include "engine/cli/source.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/model/output_files.h"
#include "engine/report/report_file.h"
#include "engine/run/ranks.h"
#include "engine/run/run_data.h"
#include "engine/run/tuning.h"

namespace slide::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxTrials = 1000000;
constexpr double kMaxMinutes = 100000;

struct TuneCommand {
  Source source;
  bool pin = false;
  double minutes = 10.0;
  std::uint32_t trials = 1000;
  std::optional<double> train_seconds;  // max training time on all data
  bool json = false;
  bool strict = false;
  std::string out;     // empty: run/<name of the source>-tuned.toml
  std::string report;  // empty: `out` with .html
};

std::string text_of(const std::vector<std::string>& changes) {
  std::string text;
  for (const std::string& change : changes) text += "  " + change;
  return text.empty() ? "  the configuration as it is" : text;
}

void print_trial(const Trial& trial) {
  const std::string score = trial.is_scored() ? fmt::format("score {:.4f}", trial.score) : trial.outcome();
  print("{:4}{} {:<12}  {:.1f} s, about {:.3g} s on all data{}\n", trial.number, trial.is_best ? "*" : " ",
        score, trial.train_seconds, trial.full_seconds, text_of(trial.changes));
}

nlohmann::ordered_json to_json(const Trial& trial) {
  nlohmann::ordered_json json = {{"trial", trial.number},
                                 {"score", trial.score},
                                 {"best", trial.is_best},
                                 {"train_seconds", trial.train_seconds},
                                 {"full_seconds", trial.full_seconds},
                                 {"within", trial.within},
                                 {"stopped", trial.stopped},
                                 {"diverged", trial.diverged},
                                 {"dropped", trial.pruned},
                                 {"too_large", trial.too_large},
                                 {"gain", trial.gain}};
  json["changes"] = trial.changes;
  return json;
}

void print_json(const nlohmann::ordered_json& json) {
  print_text(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
}

// Output files of a search.
struct Output {
  std::string file, report;
};

void print_json(const TuneResult& result, const Output& output) {
  nlohmann::ordered_json json = to_json(result.best);
  json.erase("trial");
  json.update({{"trials", result.trials},
               {"best_trial", result.best.number},
               {"train_samples", result.train_samples},
               {"splits", result.folds},
               {"validation_samples", result.validation_samples},
               {"validation_by", result.validation_by},
               {"decision_samples", result.decision_samples},
               {"leader", result.leader},
               {"out", output.file},
               {"report", output.report}});
  if (result.gain) {
    json["decision"] = {{"taken", result.best.number == result.leader},
                        {"difference", result.gain->value},
                        {"interval", {result.gain->interval.low, result.gain->interval.high}},
                        {"p", result.gain->p}};
  }
  print_json(json);
}

// The decision between the configuration as it is and the trial of highest score.
std::string decision_text(const TuneResult& result) {
  if (!result.gain) return "";
  if (result.decision_samples == 0)
    return "no held-out samples are left to decide on: the configuration stays as it is\n";
  const Difference& gain = *result.gain;
  return fmt::format("trial {} scores {:+.4f} ({:+.4f} to {:+.4f}) on {} further samples: {}\n",
                     result.leader, gain.value, gain.interval.low, gain.interval.high,
                     grouped(result.decision_samples),
                     result.best.number == result.leader
                         ? "better by more than chance, taken"
                         : "not better by more than chance, the configuration stays as it is");
}

void print_result(const TuneResult& result, const Output& output) {
  print(
      "{}{} trials on {} samples{}, scored on {} others{}; best is {}, score {:.4f}, about {:.3g} s on all "
      "data:{}\nwrote {}\n",
      decision_text(result), result.trials, grouped(result.train_samples),
      result.folds > 1 ? fmt::format(" of {} splits each", result.folds) : "",
      grouped(result.validation_samples), chosen_text(result.validation_by), result.best.number,
      result.best.score, result.best.full_seconds, text_of(result.best.changes), output.file);
}

// Throws InputError where something else than a configuration lies at the path of the new one.
void check_is_configuration(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) == 0) return;
  try {
    load_config(path);
  } catch (const InputError&) {
    fail_input("--out {}: a file that is no configuration lies there; give another name", path);
  }
}

// Where the search writes: a configuration, and its report of the same name with .html.
Output output_of(const TuneCommand& command, const Config& start) {
  const fs::path file = command.out.empty()
                            ? "run" / fs::path(default_name(command.source, start) + "-tuned.toml")
                            : fs::path(command.out);
  Output output{file.string(), command.report};
  if (output.report.empty()) {
    output.report = fs::path(file).replace_extension(".html").string();
    if (output.report == output.file) output.report += ".html";
  }
  return output;
}

// A search reads no test data, but its configuration names them.
void require_test_data(const std::string& given) {
  std::error_code ignored;
  const std::string name = expanded(given);
  if (given.empty() || is_file_list(name) || fs::exists(name, ignored)) return;
  fail_input("{}: no such file{}; check the path of the test data", name,
             is_pattern(name) ? ", and the pattern matches none" : "");
}

void run_tune(const TuneCommand& command, Cluster& cluster) {
  tolerate_closed_output();
  TuneOptions options;
  options.seconds = command.minutes * 60.0;
  options.trials = command.trials;
  const Sourced sourced = resolve(command.source);
  if (!sourced.config.train.init.empty())
    fail_input("train.init is set, but a search trains from the beginning; leave it out");
  const Config& start = sourced.config;
  require_test_data(start.data.test);
  options.fixed = sourced.given;
  if (command.train_seconds) options.train_seconds = *command.train_seconds;
  const Output output = output_of(command, start);
  const bool leads = cluster.rank() == 0;
  if (leads) {
    std::vector<std::string> inputs = inputs_of(start);
    inputs.insert(inputs.end(), {command.source.name, command.source.config});
    report::check_report_file(output.report, "--report");
    check_outputs(
        std::array{OutputFile{"--out", output.file, true}, OutputFile{"--report", output.report, true}},
        inputs);
    check_is_configuration(output.file);
    prepare_output(output.report, "--report");
  }
  options.cluster = &cluster;
  const int threads = own_threads(static_cast<int>(start.train.threads), &cluster);
  const auto pinning = pinned(command.pin, threads, &cluster);
  report::SearchHistory search;
  TuneObserver observer;
  observer.note = [&](const std::string& note) { command.json ? print_notes({note}) : print("{}\n", note); };
  Warnings warnings(command.strict);
  observer.warnings = [&](const std::vector<std::string>& all) { warnings.add(all); };
  observer.trial = [&](const Trial& trial) {
    search.trials.push_back(trial);
    command.json ? print_json(to_json(trial)) : print_trial(trial);
  };
  search.result = tune_to_file(start, options, output.file, observer);
  search.name = default_name(command.source, start);
  search.file = output.file;
  search.train_seconds = options.train_seconds;
  // Print the result first: it is not lost where the page cannot be written.
  command.json ? print_json(search.result, output) : print_result(search.result, output);
  if (leads) report::write_search_report(search, output.report);
  if (!command.json) print("wrote {} about the search; open it in a browser\n", output.report);
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("tune", "Search for a better configuration, on training data alone");
  sub->footer(
      "DATA that ends in .toml or begins like TOML is a configuration, and so is DATA beside\n"
      "--set data.train=FILE. Keeps a part of data.train for validation and changes keys while the mean of "
      "P@k over\n"
      "eval.k rises: first to what has suited such sets, then one key after the other to its next values, "
      "then one\n"
      "or two at random. What is behind is dropped early. Keys given by --set keep their values. Writes the "
      "best\n"
      "configuration to FILE where it beats the first by more than chance, else the first, and a page about\n"
      "the search beside it. Where labels or features change along the file, its last samples are kept for\n"
      "validation, else random ones.");
  const auto command = std::make_shared<TuneCommand>();
  add_source(*sub, command->source, "DATA", "Training data, or a configuration to begin with (TOML)");
  add_test_data(*sub, command->source.test);
  sub->add_option("--minutes", command->minutes, "Time for the whole search")
      ->capture_default_str()
      ->check(number(0.001, kMaxMinutes))
      ->type_name("M");
  sub->add_option("--trials", command->trials, "Trials at most")
      ->capture_default_str()
      ->transform(whole(1, kMaxTrials))
      ->type_name("N");
  sub->add_option("--train-seconds", command->train_seconds,
                  "Accept only configurations that train on all of data.train in so long, as estimated")
      ->check(number(0.001, kMaxMinutes * 60))
      ->type_name("S");
  add_train_threads(*sub, command->source.threads);
  add_pin(*sub, command->pin);
  add_train_seed(*sub, command->source.seed);
  sub->add_option("--out", command->out, "File to write; default: run/<name of DATA>-tuned.toml")
      ->type_name("FILE");
  sub->add_option("--report", command->report,
                  "Page of HTML about the search; default: the name of the written file with .html")
      ->type_name("FILE");
  add_strict(*sub, command->strict);
  sub->add_flag("--json", command->json, "Print a JSON object a line: each trial, and the result");
  sub->callback([command, &action] {
    require_source(command->source, "DATA or CONFIG");
    action = [command] { run_together("tune", [&](Cluster& cluster) { run_tune(*command, cluster); }); };
  });
}

}  // namespace slide::cli

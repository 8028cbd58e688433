// `slide test`: metrics of a model on a file.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/data_warnings.h"
#include "datasets/formats/detect.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/unpack.h"
#include "engine/cli/bad_rows.h"
#include "engine/cli/commands.h"
#include "engine/cli/evaluation.h"
#include "engine/cli/line_source.h"
#include "engine/cli/options.h"
#include "engine/cli/ranks.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/config/spellings.h"
#include "engine/model/output_files.h"
#include "engine/run/label_names.h"
#include "engine/run/model_use.h"
#include "engine/run/ranks.h"
#include "engine/run/run_warnings.h"
#include "engine/run/users_log.h"

namespace slide::cli {

namespace {

struct TestCommand {
  std::string model;
  std::string data;         // "-": standard input
  MeasureOptions measures;  // empty ks: eval.k of the model
  ModelUse use;
  bool pin = false;
  bool skip_bad = false;
  bool strict = false;
};

// Reads all of standard input, and finds its format.
TestData read_standard_input(const Model& model, int threads, bool skip_bad, Cluster& cluster,
                             std::optional<DataFormat>& format) {
  SharedLines source(cluster, STDIN_FILENO);
  std::string bytes;
  for (std::string_view some = source.next(); !some.empty(); some = source.next()) bytes += some;
  if (is_packed(bytes)) bytes = unpack(bytes, kStandardInput);
  format = detect_format(bytes);
  return parse_test_data(bytes, kStandardInput, model, threads, skip_bad);
}

// Results besides the metrics.
struct Details {
  LabelCounts counts;
  SampleRatios ratios;
  std::vector<Interval> intervals;
};

Details details_of(const TestCommand& command, const Model& model, const TestResult& result,
                   const TestOptions& options) {
  const auto labels = std::max<std::size_t>(model.network.labels(), result.truth.label_count());
  Details details{LabelCounts(result.ranking, result.truth, options.ks, labels), {}, {}};
  if (command.measures.bootstrap == 0) return details;
  Metrics none(options.ks, propensities(model, options.propensity));
  if (result.metrics.has_first_hits()) none.include_first_hits();
  details.ratios = sample_ratios(result.ranking, result.truth, none, options.threads);
  details.intervals = bootstrap(details.ratios, command.measures.resampling(options.threads));
  return details;
}

Json to_json(const TestResult& result, const Details& details, const Popularity& popularity) {
  Json json = {
      {"samples", result.samples}, {"seconds", result.seconds}, {"inference", spelling(result.inference)}};
  json.update(result.metrics.to_json());
  json.update(coverage_json(details.counts, popularity));
  if (!details.intervals.empty()) json["intervals"] = interval_json(details.ratios, details.intervals);
  json["bad_rows"] = result.report.bad_rows;
  json["samples_without_known_features"] = result.unknown.empty_rows;
  json["unknown_features"] = result.unknown.features;
  json["unknown_labels"] = result.unknown.labels;
  return json;
}

void write_per_label(const TestCommand& command, const Model& model, const UnknownLabels& unknown,
                     const LabelCounts& counts) {
  const LabelNames names(model, "");
  const std::size_t labels = model.network.labels();
  const auto known = [&](std::uint32_t label) {
    if (label < labels) return names[label];
    return label - labels < unknown.size() ? std::string_view(unknown[label - labels]) : std::string_view();
  };
  write_label_table(command.measures.per_label,
                    {counts, names.known() ? NameOf(known) : NameOf(), model.shape.label_frequencies});
}

// The table of labels must not replace an input.
void check_per_label(const TestCommand& command, const Model& model) {
  const DataConfig& data = model.config.data;
  std::string known = data.known.empty() ? data.train : data.known;
  if (data.kind != DataKind::kInteractions) known.clear();
  check_outputs(std::array{OutputFile{"--per-label", command.measures.per_label}},
                std::array{command.model, command.data, command.measures.filter, known});
}

// The options that all processes of one test must share, besides model and data, as a text to compare.
std::string options_of(const TestCommand& command) {
  const ModelUse& use = command.use;
  const auto choice = [](const auto& chosen) { return chosen ? static_cast<int>(*chosen) : -1; };
  return fmt::format("{} {} {} {} {} {} {} {}", command.data == "-", fmt::join(command.measures.ks, ","),
                     command.measures.filter.empty(), choice(use.inference), choice(use.format),
                     use.keep_known, command.skip_bad, use.rare.value_or(-1));
}

// Prints which log the items that users have are looked up in, where no option names it.
void note_assumed_log(const TestCommand& command, const Model& model, const Cluster& cluster) {
  if (model.config.data.kind != DataKind::kInteractions || model.known_given || cluster.rank() != 0) return;
  print_notes(
      {tests_own_log(command.data, model)
           ? fmt::format("{}: the log of the training, measured on the items that it held out", command.data)
           : fmt::format("users are looked up in {}, which the model names", users_log(model))});
}

void print_results(const TestResult& result, const Details& details, const Popularity& popularity,
                   bool json) {
  if (json) return print("{}\n", to_json(result, details, popularity).dump());
  print("{} samples in {:.2f} s\n{}{}", grouped(result.samples), result.seconds,
        table(result.metrics, details.counts, popularity), interval_lines(details.ratios, details.intervals));
}

// The options of the command; the k of the measures are those of the model where it names none.
TestOptions test_options(const TestCommand& command, const Model& model, int threads) {
  TestOptions options;
  options.threads = threads;
  options.ks = each_once(command.measures.ks.empty() ? model.config.eval.k : command.measures.ks);
  options.filter = command.measures.filter;
  options.propensity = command.measures.propensity;
  return options;
}

void run_test(const TestCommand& command, Cluster& cluster) {
  require_same_options(cluster, options_of(command));
  const int threads = own_threads(command.use.threads, &cluster);
  const auto pinning = pinned(command.pin, threads, &cluster);
  Model model = open_model(command.model, command.use, &cluster);
  require_same_file(cluster, model);
  print_notes(model.notes);
  check_per_label(command, model);
  TestOptions options = test_options(command, model, threads);
  note_assumed_log(command, model, cluster);
  const bool piped = command.data == "-";
  std::optional<DataFormat> format = piped ? std::nullopt : detect_file(expanded(command.data));
  TestData data = piped ? read_standard_input(model, options.threads, command.skip_bad, cluster, format)
                        : read_test_data(command.data, model, options.threads, command.skip_bad);
  if (command.use.format) format = command.use.format;
  const std::string origin = piped ? kStandardInput : expanded(command.data);
  const bool log = model.config.data.kind == DataKind::kInteractions;
  add_measure_warnings(data.rows, model.network.labels(), log, origin, data.report);
  if (std::string header; !piped && !log) {
    header = header_warning(origin, model.shape.features - model.shape.dense, model.shape.labels);
    if (!header.empty()) data.report.add_warning(std::move(header));
  }
  Warnings warnings(command.strict);
  warnings.add(data.report);
  EvaluationStatus status;
  // mpirun passes what a terminal would be shown on to a file, too.
  if (cluster.rank() == 0 && has_status_line() && !command.measures.json)
    options.progress = [&](std::size_t done, std::size_t all) { status.show("evaluating", done, all); };
  const TestResult result = test_model(model, data, options, &cluster);
  show_status("");
  warnings.add(result.report);
  BadRows bad;
  bad.add(result.report);
  report_unknown(result.unknown, origin, result.samples, feature_kind(model.text.get(), format), warnings);
  const Details details = details_of(command, model, result, options);
  if (!command.measures.per_label.empty() && cluster.rank() == 0)
    write_per_label(command, model, data.unknown, details.counts);
  const Popularity popularity =
      log ? Popularity{model.shape.label_frequencies, model.shape.samples} : Popularity();
  print_results(result, details, popularity, command.measures.json);
  bad.end();
}

}  // namespace

void add_test(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("test", "Evaluate a model on a test file");
  const auto command = std::make_shared<TestCommand>();
  sub->add_option("MODEL", command->model, "Folder of a run, or a model file")->required();
  sub->add_option("DATA", command->data,
                  "Test file, or a pattern of several, read as the training data were; - for standard input")
      ->required();
  add_measures(*sub, command->measures, "the model's eval.k");
  add_inference(*sub, command->use.inference);
  add_rare(*sub, command->use.rare);
  add_known(*sub, command->use.known);
  add_keep_known(*sub, command->use.keep_known);
  add_threads(*sub, command->use.threads);
  add_pin(*sub, command->pin);
  add_format(*sub, "--format", "Format of DATA; default: found from its content", command->use.format);
  add_skip_bad(*sub, command->skip_bad);
  add_strict(*sub, command->strict);
  // --filter refers to row numbers of the file
  sub->get_option("--skip-bad")->excludes(sub->get_option("--filter"));
  sub->callback([command, &action] {
    action = [command] { run_together("test", [&](Cluster& cluster) { run_test(*command, cluster); }); };
  });
}

}  // namespace slide::cli

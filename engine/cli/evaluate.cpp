// `slide evaluate`: metrics of external scores.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/evaluate_command.h"
#include "engine/cli/evaluate_results.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/report/report_file.h"
#include "engine/run/threshold_file.h"

namespace slide::cli {

namespace {

void run_evaluate(const EvaluateCommand& command) {
  check_evaluate_outputs(command);
  Evaluation evaluation;
  read_all(command, evaluation);
  Warnings(command.strict).add(evaluation.report);
  const EvaluationResults results = results_of(command, evaluation);
  const EvaluationOutput output = format_results(command, evaluation, results);
  if (!command.curve.empty()) write_curve(command.curve, results.curve);
  if (!command.save_thresholds.empty()) {
    const auto name = [&](std::uint32_t label) { return evaluation.index.name(label); };
    write_thresholds(command.save_thresholds, *evaluation.thresholds,
                     evaluation.index.named() ? NameOf(name) : NameOf());
  }
  if (!command.report.empty())
    report::write_evaluation_report(command.files.back(), output.json, results.curve, command.report);
  print_text(command.measures.json ? output.json.dump() + "\n" : output.text);
}

// Checks the text of --threshold.
std::string threshold_fault(const std::string& text) {
  if (threshold_number(text)) return "";
  const bool number = text.find_first_not_of("+-.,0123456789eEinfaNx%") == std::string::npos;
  std::error_code ignored;
  if (!number || std::filesystem::exists(text, ignored)) return "";
  return fmt::format("'{}' is neither a finite number nor a file of thresholds", text);
}

// Adds the options of thresholds.
void add_thresholds(CLI::App& app, const std::shared_ptr<EvaluateCommand>& command) {
  CLI::Option* threshold =
      app.add_option("--threshold", command->threshold,
                     "Precision, recall and F1 of labels with this score or more; or a file of "
                     "--save-thresholds")
          ->check(CLI::Validator(threshold_fault, ""))
          ->type_name("SCORE|FILE");
  app.add_option("--best-threshold", command->validation,
                 "The same at the threshold with the best micro F1 on these scores and data")
      ->expected(2)
      ->excludes(threshold)
      ->type_name("SCORES DATA");
  const auto take_precision = [command](const std::string& text) {
    command->goal.precision = std::stod(text);
  };
  app.add_option_function<std::string>(
         "--min-precision", take_precision,
         "Best thresholds are the lowest with this precision, not those of best F1")
      ->check(number(0, 1))
      ->excludes(threshold)
      ->type_name("P");
  app.add_option("--label-thresholds", command->goal.label_samples,
                 "Also find a threshold for each label with N true samples or more")
      ->transform(whole(1, kMaxItems))
      ->excludes(threshold)
      ->type_name("N");
  app.add_option("--save-thresholds", command->save_thresholds,
                 "Write the best thresholds, without --best-threshold on SCORES and DATA, for slide convert")
      ->excludes(threshold)
      ->type_name("FILE");
}

}  // namespace

void add_evaluate(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("evaluate", "Evaluate external scores");
  sub->footer(
      "slide evaluate SCORES... DATA. SCORES hold a row a sample of DATA: a matrix of SciPy in compressed "
      "sparse\n"
      "rows (.npz), or lines 'label:score label:score ...' as slide predict prints them, with tabs where "
      "labels\n"
      "have names; - is standard input. Scores of several files are averaged. DATA is any data file, or a "
      "matrix of\n"
      "labels alone (.npz), or a pattern of several in quotes.");
  const auto command = std::make_shared<EvaluateCommand>();
  sub->add_option("SCORES", command->files, "One or more files of scores, and the data with the true labels")
      ->required()
      ->expected(2, 1000)
      ->option_text("SCORES... DATA");
  add_measures(*sub, command->measures, "1,3,5");
  const auto take_weights = [command](const std::vector<std::string>& weights) {
    for (const std::string& weight : weights)
      command->weights.push_back(std::strtod(weight.c_str(), nullptr));
  };
  add_list(*sub, "--weights", "Weights of the files of scores; default: the same for all", finite_number(),
           take_weights)
      ->type_name("W,W,...");
  sub->add_option("--labels", command->labels, "Names of the labels, one a line, label 0 first")
      ->type_name("FILE");
  CLI::Option* train = sub->add_option("--train", command->train, "Data that the scores were learnt from");
  train->type_name("FILE");
  sub->get_option("--propensity")->needs(train);
  sub->add_option("--known", command->known,
                  "Interactions: what the users of DATA have already; default: that of --train")
      ->type_name("FILE");
  add_thresholds(*sub, command);
  sub->add_option("--curve", command->curve, "Write precision, recall and F1 at each score, as CSV")
      ->type_name("FILE");
  sub->add_option("--report", command->report,
                  "Write a page of HTML with the precision-recall curve and the reliability of the scores")
      ->type_name("FILE");
  sub->add_option("--compare", command->compare, "Other scores of the same samples, to test the difference")
      ->type_name("SCORES");
  sub->add_option("--model", command->model, "Read the data as the training data of this model were")
      ->type_name("MODEL");
  add_format(*sub, "--format", "Format of the data; default: found from their content", command->format);
  sub->add_option("--set", command->set, "How the data are read: a column of [data]; may be repeated")
      ->type_name("data.KEY=VALUE")
      ->allow_extra_args(false);
  add_threads(*sub, command->threads);
  add_strict(*sub, command->strict);
  sub->callback([command, &action] { action = [command] { run_evaluate(*command); }; });
}

}  // namespace slide::cli

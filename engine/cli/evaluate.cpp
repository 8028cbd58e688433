// `slide evaluate`: metrics of external scores.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/data_warnings.h"
#include "datasets/sidecar/label_pairs.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/cli/commands.h"
#include "engine/cli/evaluation.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/config/config.h"
#include "engine/inference/f1.h"
#include "engine/inference/ranking.h"
#include "engine/model/output_files.h"
#include "engine/run/score_files.h"

namespace slide::cli {

namespace {

struct EvaluateCommand {
  std::vector<std::string> files;       // one or more files of scores, then the data
  std::vector<double> weights;          // of the score files; empty: equal
  std::string labels;                   // names file of labels, or empty
  std::string train;                    // file with training labels, or empty
  std::string known;                    // interactions: log of what users have, or empty: `train`
  std::string compare;                  // another file of scores, or empty
  std::vector<std::string> validation;  // comma-separated score files and their data, or empty
  std::optional<float> threshold;
  MeasureOptions measures;
  std::optional<DataFormat> format;
  std::vector<std::string> set;  // keys that say how the data are read
  int threads = 0;
  bool strict = false;
};

// Data and parameters of the evaluation.
struct Evaluation {
  LabelIndex index;
  TruthOptions reading;
  ReadReport report;
  Dataset truth;
  ScoredRows rows;  // of all scores
  Dataset scores;
  std::vector<std::uint32_t> order;  // of each score in its line of text; empty: none, or not known
  LabelPairs pairs;
  std::vector<std::uint32_t> ks;
  std::vector<std::uint32_t> training;  // samples of each label; empty without --train
  bool trained = false;                 // whether there is --train
  std::optional<Metrics> none;
  std::optional<float> threshold;
  std::optional<F1> validation;  // at the threshold, on the validation samples
};

std::size_t labels_of(const Evaluation& evaluation) {
  return std::max({std::size_t{evaluation.scores.feature_count()},
                   std::size_t{evaluation.truth.label_count()}, std::size_t{evaluation.index.limit()},
                   evaluation.index.names()});
}

// Weighted sum of the scores of several files.
Dataset read_ensemble_member(const EvaluateCommand& command, const std::vector<std::string>& files,
                             const ScoredRows& rows, LabelIndex& index,
                             std::vector<std::uint32_t>* order = nullptr) {
  if (std::ranges::count(files, "-") > 1) fail_input("standard input can be one file only");
  if (files.size() == 1 && command.weights.empty()) return read_scores(files.front(), rows, index, order);
  std::vector<Dataset> scores;
  for (const std::string& file : files) scores.push_back(read_scores(file, rows, index));
  const std::vector<double> weights =
      command.weights.empty() ? std::vector<double>(files.size(), 1.0 / static_cast<double>(files.size()))
                              : command.weights;
  return weighted_sum(scores, weights);
}

void check_counts(const EvaluateCommand& command) {
  const std::size_t files = command.files.size() - 1;
  if (!command.weights.empty() && command.weights.size() != files) {
    fail_input("--weights gives {} for {} files of scores; give one for each", command.weights.size(), files);
  }
  if (!command.validation.empty() && parted(command.validation.front()).size() != files) {
    fail_input("--best-threshold names {} files of scores for {}; give as many, parted by commas",
               parted(command.validation.front()).size(), files);
  }
}

void take_training(const EvaluateCommand& command, Evaluation& evaluation) {
  Metrics::Propensities propensities;
  Metrics::Groups groups;
  if (!command.train.empty()) {
    const Dataset train = read_labels(command.train, evaluation.reading, evaluation.index);
    evaluation.training = train.label_frequencies();
    evaluation.trained = true;
    const EvalConfig defaults;
    const PropensityConstants constants = command.measures.propensity.value_or(
        PropensityConstants{defaults.propensity_a, defaults.propensity_b});
    propensities = std::make_shared<const InversePropensities>(evaluation.training, train.size(), constants.a,
                                                               constants.b);
    groups = std::make_shared<const LabelGroups>(evaluation.training);
  }
  evaluation.none.emplace(evaluation.ks, std::move(propensities), std::move(groups));
  if (evaluation.rows.users != nullptr) evaluation.none->tell_first_hits();
}

// Sets the threshold from --threshold, or the best one on the validation samples.
void take_threshold(const EvaluateCommand& command, Evaluation& evaluation) {
  evaluation.threshold = command.threshold;
  if (command.validation.empty()) return;
  const Truth truth = read_truth(command.validation[1], evaluation.reading, evaluation.index);
  const Dataset scores =
      read_ensemble_member(command, parted(command.validation[0]), truth.rows, evaluation.index);
  evaluation.threshold = best_threshold(scores, truth.labels).threshold;
  evaluation.validation = f1_at(scores, truth.labels, *evaluation.threshold);
}

// Leaves these pairs out of scores and their order.
void leave_out(const LabelPairs& pairs, Dataset& scores, std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> kept;
  std::size_t at = 0;
  for (std::size_t i = 0; !order.empty() && i < scores.size(); ++i) {
    for (const std::uint32_t label : scores.features(i).ids) {
      if (!pairs.has(i, label)) kept.push_back(order[at]);
      ++at;
    }
  }
  order = std::move(kept);
  scores = scores_without(scores, pairs);
}

// How the data are read, by --format, --set and --threads.
TruthOptions reading_of(const EvaluateCommand& command) {
  static constexpr std::array kMeant = {
      "data.text=", "data.labels=", "data.label_separator=", "data.format=", "data.kind=", "data.log=",
      "data.user=", "data.item=",   "data.weight=",          "data.time=",   "data.known="};
  for (const std::string& set : command.set) {
    if (std::ranges::none_of(kMeant, [&](std::string_view key) { return set.starts_with(key); })) {
      fail_input(
          "--set {}: only keys that say how a file is read have a meaning here: data.text, labels, "
          "label_separator, format, kind, log, user, item, weight, time and known",
          set);
    }
  }
  TruthOptions reading = truth_options(parse_config("", "the settings", command.set).data);
  if (command.format) reading.format = command.format;
  if (!command.known.empty()) reading.known = command.known;
  if (reading.known.empty()) reading.known = command.train;
  reading.threads = command.threads;
  return reading;
}

void read_all(const EvaluateCommand& command, Evaluation& evaluation) {
  check_counts(command);
  if (!command.labels.empty()) evaluation.index = LabelIndex(command.labels);
  evaluation.ks = each_once(command.measures.ks.empty() ? EvalConfig().k : command.measures.ks);
  evaluation.reading = reading_of(command);
  evaluation.reading.report = &evaluation.report;
  if (!evaluation.index.warning().empty()) evaluation.report.add_warning(evaluation.index.warning());
  Truth truth = read_truth(command.files.back(), evaluation.reading, evaluation.index);
  evaluation.truth = std::move(truth.labels);
  evaluation.rows = std::move(truth.rows);
  add_measure_warnings(evaluation.truth, UINT64_MAX, evaluation.rows.users != nullptr, command.files.back(),
                       evaluation.report);
  take_training(command, evaluation);
  const std::vector<std::string> files(command.files.begin(), command.files.end() - 1);
  evaluation.scores =
      read_ensemble_member(command, files, evaluation.rows, evaluation.index, &evaluation.order);
  take_threshold(command, evaluation);
  if (command.measures.filter.empty()) return;
  if (evaluation.index.grows())
    fail_input("--filter has numbers of labels, but the data name theirs; give the names by --labels");
  evaluation.pairs = read_label_pairs(command.measures.filter, evaluation.truth.size(),
                                      static_cast<std::uint32_t>(labels_of(evaluation)));
  evaluation.truth = labels_without(evaluation.truth, evaluation.pairs);
  leave_out(evaluation.pairs, evaluation.scores, evaluation.order);
}

std::size_t most_of(const Evaluation& evaluation) {
  return std::ranges::max(evaluation.ks);
}

SampleRatios ratios_of(const Evaluation& evaluation, const Dataset& scores, const Ranking& ranking,
                       int threads) {
  SampleRatios ratios = sample_ratios(ranking, evaluation.truth, *evaluation.none, threads);
  if (evaluation.threshold) add_f1(ratios, scores, evaluation.truth, *evaluation.threshold);
  return ratios;
}

// Results as JSON and as text.
struct Told {
  Json json;
  std::string text;
};

// Labels of samples that have no score in any row, and those that training lacks; as often as they occur.
struct Missing {
  std::uint64_t unscored = 0, untrained = 0;
};

Missing missing_of(const Evaluation& evaluation) {
  std::vector<bool> scored(labels_of(evaluation));
  for (std::size_t i = 0; i < evaluation.scores.size(); ++i) {
    for (const std::uint32_t label : evaluation.scores.features(i).ids) scored[label] = true;
  }
  Missing missing;
  for (std::size_t i = 0; i < evaluation.truth.size(); ++i) {
    for (const std::uint32_t label : evaluation.truth.labels(i)) {
      missing.unscored += scored[label] ? 0 : 1;
      missing.untrained += label < evaluation.training.size() && evaluation.training[label] > 0 ? 0 : 1;
    }
  }
  return missing;
}

void tell_missing(const Evaluation& evaluation, Told& told) {
  const Missing missing = missing_of(evaluation);
  told.json["unscored_labels"] = missing.unscored;
  if (missing.unscored > 0)
    told.text += fmt::format("missed are {} labels, as often as they occur, that have no score in any row\n",
                             grouped(missing.unscored));
  if (!evaluation.trained) return;
  told.json["unknown_labels"] = missing.untrained;
  if (missing.untrained > 0)
    told.text += fmt::format("unknown are {} labels, as often as they occur, that training lacks\n",
                             grouped(missing.untrained));
}

void tell_f1(const Evaluation& evaluation, Told& told) {
  if (!evaluation.threshold) return;
  const F1 f1 = f1_at(evaluation.scores, evaluation.truth, *evaluation.threshold);
  told.json["threshold"] = std::stod(fmt::format("{}", *evaluation.threshold));  // 0.7, not its nearest float
  told.json["f1_micro"] = f1.micro;
  told.json["f1_macro"] = f1.macro;
  told.json["f1_samples"] = f1.samples;
  told.text += fmt::format("F1 of scores from {:.6g} on: micro {:.4f}, macro {:.4f}, of a sample {:.4f}\n",
                           *evaluation.threshold, f1.micro, f1.macro, f1.samples);
  if (!evaluation.validation) return;
  told.json["validation_f1_micro"] = evaluation.validation->micro;
  told.text += fmt::format("which is the best threshold for validation, with micro {:.4f}\n",
                           evaluation.validation->micro);
}

void tell_groups(const Evaluation& evaluation, const Metrics& metrics, Told& told) {
  if (!metrics.has_groups()) return;
  told.json.update(metrics.groups_to_json());
  const std::uint32_t k = std::ranges::max(evaluation.ks);
  for (const LabelGroup group : kLabelGroups) {
    told.text += fmt::format("{:<6} labels: {:.4f} of P@{}, recall {:.4f}\n", name_of(group),
                             metrics.precision(k, group), k, metrics.recall(k, group));
  }
}

void tell_comparison(const EvaluateCommand& command, Evaluation& evaluation, const SampleRatios& ratios,
                     Told& told) {
  std::vector<std::uint32_t> order;
  Dataset other = read_scores(command.compare, evaluation.rows, evaluation.index, &order);
  if (!evaluation.pairs.empty()) leave_out(evaluation.pairs, other, order);
  const Ranking ranking = ranked_in_order(other, order, most_of(evaluation), command.threads);
  Resampling resampling = command.measures.resampling(command.threads);
  if (resampling.count == 0) resampling.count = Resampling().count;
  const std::vector<Difference> differences =
      compare(ratios, ratios_of(evaluation, other, ranking, command.threads), resampling);
  Json json = Json::object();
  told.text += fmt::format("less {}:\n", command.compare);
  for (std::size_t m = 0; m < differences.size(); ++m) {
    const Difference& one = differences[m];
    json[ratios.names[m]] = {
        {"difference", one.value}, {"interval", {one.interval.low, one.interval.high}}, {"p_value", one.p}};
    told.text += fmt::format("{:<14} {:>+8.4f}, {:+.4f} .. {:+.4f} in 95 % of the draws, p = {:.4g}\n",
                             ratios.names[m], one.value, one.interval.low, one.interval.high, one.p);
  }
  told.json["compare"] = json;
}

void tell_resampled(const EvaluateCommand& command, Evaluation& evaluation, const Ranking& ranking,
                    Told& told) {
  if (command.measures.bootstrap == 0 && command.compare.empty()) return;
  const SampleRatios ratios = ratios_of(evaluation, evaluation.scores, ranking, command.threads);
  if (command.measures.bootstrap > 0) {
    const std::vector<Interval> intervals = bootstrap(ratios, command.measures.resampling(command.threads));
    told.json["intervals"] = interval_json(ratios, intervals);
    told.text += interval_lines(ratios, intervals);
  }
  if (!command.compare.empty()) tell_comparison(command, evaluation, ratios, told);
}

// The table of labels must not replace an input.
void check_per_label(const EvaluateCommand& command) {
  std::vector<std::string> inputs = command.files;
  inputs.insert(inputs.end(),
                {command.labels, command.train, command.known, command.compare, command.measures.filter});
  if (!command.validation.empty()) {
    inputs.push_back(command.validation[1]);
    for (std::string& scores : parted(command.validation[0])) inputs.push_back(std::move(scores));
  }
  check_outputs(std::array{OutputFile{"--per-label", command.measures.per_label}}, inputs);
}

void run_evaluate(const EvaluateCommand& command) {
  check_per_label(command);
  Evaluation evaluation;
  read_all(command, evaluation);
  Warnings(command.strict).add(evaluation.report);
  const Ranking ranking =
      ranked_in_order(evaluation.scores, evaluation.order, most_of(evaluation), command.threads);
  const Metrics metrics = measured(ranking, evaluation.truth, *evaluation.none);
  const LabelCounts counts(ranking, evaluation.truth, evaluation.ks, labels_of(evaluation));
  Told told;
  told.json = {{"samples", evaluation.truth.size()}, {"labels", counts.labels()}};
  told.json.update(metrics.to_json());
  told.json.update(coverage_json(counts));
  told.text =
      fmt::format("{} samples, {} labels, of which samples carry {}\n{}", grouped(evaluation.truth.size()),
                  grouped(counts.labels()), grouped(counts.carried()), table(metrics, counts));
  tell_missing(evaluation, told);
  tell_groups(evaluation, metrics, told);
  tell_f1(evaluation, told);
  tell_resampled(command, evaluation, ranking, told);
  if (!command.measures.per_label.empty()) {
    const auto name = [&](std::uint32_t label) { return evaluation.index.name(label); };
    write_label_table(command.measures.per_label, counts, evaluation.index.named() ? NameOf(name) : NameOf(),
                      evaluation.training);
  }
  print_text(command.measures.json ? told.json.dump() + "\n" : told.text);
}

// Adds --threshold and --best-threshold.
void add_thresholds(CLI::App& app, const std::shared_ptr<EvaluateCommand>& command) {
  const auto take_threshold = [command](const std::string& text) {
    constexpr double kMax = std::numeric_limits<float>::max();
    command->threshold = static_cast<float>(std::clamp(std::stod(text), -kMax, kMax));
  };
  CLI::Option* threshold = app.add_option_function<std::string>("--threshold", take_threshold,
                                                                "F1 of labels with this score or more")
                               ->check(finite_number())
                               ->type_name("SCORE");
  app.add_option("--best-threshold", command->validation,
                 "F1 at the threshold with the best micro F1 on these scores and data")
      ->expected(2)
      ->excludes(threshold)
      ->type_name("SCORES DATA");
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
  sub->add_option("--compare", command->compare, "Other scores of the same samples, to test the difference")
      ->type_name("SCORES");
  add_format(*sub, "--format", "Format of the data; default: found from their content", command->format);
  sub->add_option("--set", command->set, "How the data are read: a column of [data]; may be repeated")
      ->type_name("data.KEY=VALUE")
      ->allow_extra_args(false);
  add_threads(*sub, command->threads);
  add_strict(*sub, command->strict);
  sub->callback([command, &action] { action = [command] { run_evaluate(*command); }; });
}

}  // namespace slide::cli

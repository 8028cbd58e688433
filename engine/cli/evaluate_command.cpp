#include "engine/cli/evaluate_command.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "datasets/data_warnings.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"
#include "engine/cli/options.h"
#include "engine/config/config.h"
#include "engine/inference/decisions.h"
#include "engine/model/model_file.h"
#include "engine/model/output_files.h"
#include "engine/report/report_file.h"
#include "engine/run/threshold_file.h"

namespace slide::cli {

namespace {

// Scores of the ensemble whose members are `files`: their weighted sum.
Dataset read_ensemble(const EvaluateCommand& command, const std::vector<std::string>& files,
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
  if (!command.validation.empty() && split_list(command.validation.front()).size() != files) {
    fail_input("--best-threshold names {} files of scores for {}; give as many, separated by commas",
               split_list(command.validation.front()).size(), files);
  }
}

// Throws InputError where counts of each label do not fit into memory: a file then has a wrong id.
void require_labels(std::size_t labels, const std::string& path, std::size_t ks) {
  const double bytes = double(labels) * double((ks + 2) * sizeof(DecisionCounts));
  const std::optional<double> free = free_memory();
  if (bytes <= kLittleMemory || !free || bytes <= *free) return;
  fail_input(
      "{}: its largest label is {}, and counts of so many labels need {:.0f} MB, but {:.0f} MB are free; "
      "check its ids",
      path, labels - 1, bytes / 1e6, *free / 1e6);
}

// Reads the training labels, where --train names them, for propensities, label groups and novelty.
void take_training(const EvaluateCommand& command, Evaluation& evaluation) {
  Metrics::Propensities propensities;
  Metrics::Groups groups;
  if (!command.train.empty()) {
    const Dataset train = read_labels(command.train, evaluation.reading, evaluation.index);
    require_labels(train.label_count(), command.train, 0);
    evaluation.label_samples = train.label_frequencies();
    evaluation.training_samples = train.size();
    evaluation.has_training = true;
    const EvalConfig defaults;
    const PropensityConstants constants = command.measures.propensity.value_or(
        PropensityConstants{defaults.propensity_a, defaults.propensity_b});
    propensities = std::make_shared<const InversePropensities>(evaluation.label_samples, train.size(),
                                                               constants.a, constants.b);
    groups = std::make_shared<const LabelGroups>(evaluation.label_samples);
  }
  evaluation.empty_metrics.emplace(evaluation.ks, std::move(propensities), std::move(groups));
  if (evaluation.rows.users != nullptr) evaluation.empty_metrics->include_first_hits();
}

// A label of a file of thresholds; nullopt for one that the scores do not have.
std::optional<std::uint32_t> find_label(const ThresholdLabel& label, LabelIndex& index) {
  if (index.named()) return label.name ? index.find(*label.name) : std::nullopt;
  return label.id;
}

// Sets the thresholds of --threshold, or the best on the validation samples.
void take_thresholds(const EvaluateCommand& command, Evaluation& evaluation) {
  if (const auto number = threshold_number(command.threshold)) {
    evaluation.thresholds.emplace(*number);
  } else if (!command.threshold.empty()) {
    evaluation.thresholds = read_thresholds(
        command.threshold, [&](const ThresholdLabel& label) { return find_label(label, evaluation.index); });
  } else if (!command.validation.empty()) {
    const Truth truth = read_truth(command.validation[1], evaluation.reading, evaluation.index);
    const Dataset scores =
        read_ensemble(command, split_list(command.validation[0]), truth.rows, evaluation.index);
    evaluation.thresholds = best_thresholds(scores, truth.labels, command.goal);
    evaluation.validation = decide(scores, truth.labels, *evaluation.thresholds);
  }
}

// The keys that say how data are read: the keys of --model (else the defaults), changed by --set.
DataConfig data_keys(const EvaluateCommand& command) {
  if (command.model.empty()) return parse_config("", "the settings", command.set).data;
  DataConfig data = parse_config("", command.model, command.set, load_model_config(command.model)).data;
  if (data.known.empty() && data.kind == DataKind::kInteractions && command.train.empty())
    data.known = data.train;
  return data;
}

// How the data are read, by --model, --format, --set and --threads.
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
  TruthOptions reading = truth_options(data_keys(command));
  if (command.format) reading.format = command.format;
  if (!command.known.empty()) reading.known = command.known;
  if (reading.known.empty()) reading.known = command.train;
  reading.threads = command.threads;
  return reading;
}

// Leaves the pairs of --filter out.
void take_filter(const EvaluateCommand& command, Evaluation& evaluation) {
  if (command.measures.filter.empty()) return;
  if (evaluation.index.grows())
    fail_input("--filter has numbers of labels, but the data name theirs; give the names by --labels");
  evaluation.pairs = read_label_pairs(command.measures.filter, evaluation.truth.size(),
                                      static_cast<std::uint32_t>(labels_of(evaluation)));
  evaluation.truth = labels_without(evaluation.truth, evaluation.pairs);
  leave_out(evaluation.pairs, evaluation.scores, evaluation.order);
}

// Warns where scores of users have none of the items that they are measured by.
void warn_of_no_hit(const EvaluateCommand& command, Evaluation& evaluation) {
  const Dataset &scores = evaluation.scores, &truth = evaluation.truth;
  if (evaluation.rows.users == nullptr || scores.feature_entries() == 0 || truth.label_entries() == 0) return;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (const std::uint32_t item : scores.features(i).ids)
      if (std::ranges::binary_search(truth.labels(i), item)) return;
  }
  evaluation.report.add_warning(
      fmt::format("{}: no user gets an item of {}, so that all measures are 0: slide predict and slide "
                  "recommend leave out what users have already, in the training log or in DATA; give predict "
                  "the users alone, one a line, and evaluate by a log of held-out items, or take slide test",
                  command.files.front(), command.files.back()));
}

// Warns where no score reaches its threshold of --threshold.
void warn_of_no_label(const EvaluateCommand& command, Evaluation& evaluation) {
  const Dataset& scores = evaluation.scores;
  if (command.threshold.empty() || scores.feature_entries() == 0) return;
  float highest = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const SparseRow row = scores.features(i);
    for (std::size_t at = 0; at < row.ids.size(); ++at) {
      if (reaches_float(row.values[at], evaluation.thresholds->of(row.ids[at]))) return;
      highest = std::max(highest, row.values[at]);
    }
  }
  evaluation.report.add_warning(fmt::format(
      "{}: no score reaches --threshold {}, so that no label is given; the highest is {:.6g}; check that "
      "both are probabilities, or both are not",
      command.files.front(), command.threshold, highest));
}

}  // namespace

std::size_t labels_of(const Evaluation& evaluation) {
  return std::max({std::size_t{evaluation.scores.feature_count()},
                   std::size_t{evaluation.truth.label_count()}, std::size_t{evaluation.index.limit()},
                   evaluation.index.names()});
}

std::size_t max_k(const Evaluation& evaluation) {
  return std::ranges::max(evaluation.ks);
}

// Removes excluded pairs from `scores`, and from `order`, which has an element for each score or none.
void leave_out(const LabelPairs& pairs, Dataset& scores, std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> kept;
  std::size_t entry = 0;  // of all rows of `scores`
  for (std::size_t i = 0; !order.empty() && i < scores.size(); ++i) {
    for (const std::uint32_t label : scores.features(i).ids) {
      if (!pairs.has(i, label)) kept.push_back(order[entry]);
      ++entry;
    }
  }
  order = std::move(kept);
  scores = scores_without(scores, pairs);
}

void check_evaluate_outputs(const EvaluateCommand& command) {
  std::vector<std::string> inputs = command.files;
  inputs.insert(inputs.end(), {command.labels, command.train, command.known, command.compare, command.model,
                               command.measures.filter});
  if (!threshold_number(command.threshold)) inputs.push_back(command.threshold);
  if (!command.validation.empty()) {
    inputs.push_back(command.validation[1]);
    for (std::string& scores : split_list(command.validation[0])) inputs.push_back(std::move(scores));
  }
  check_outputs(std::array{OutputFile{"--per-label", command.measures.per_label},
                           OutputFile{"--save-thresholds", command.save_thresholds},
                           OutputFile{"--curve", command.curve}, OutputFile{"--report", command.report}},
                inputs);
  if (!command.report.empty()) report::check_report_file(command.report, "--report");
}

// Reads all inputs, each after those it depends on: label names, true labels, training labels, scores,
// thresholds, excluded pairs.
void read_all(const EvaluateCommand& command, Evaluation& evaluation) {
  check_counts(command);
  if (!command.labels.empty()) evaluation.index = LabelIndex(command.labels);
  evaluation.ks = each_once(command.measures.ks.empty() ? EvalConfig().k : command.measures.ks);
  evaluation.reading = reading_of(command);
  evaluation.reading.report = &evaluation.report;
  if (!evaluation.index.warning().empty()) evaluation.report.add_warning(evaluation.index.warning());
  Truth truth = read_truth(command.files.back(), evaluation.reading, evaluation.index);
  evaluation.truth = std::move(truth.labels);
  require_labels(evaluation.truth.label_count(), command.files.back(), evaluation.ks.size());
  evaluation.rows = std::move(truth.rows);
  evaluation.rows.report = &evaluation.report;
  add_measure_warnings(evaluation.truth, UINT64_MAX, evaluation.rows.users != nullptr, command.files.back(),
                       evaluation.report);
  take_training(command, evaluation);
  const std::vector<std::string> files(command.files.begin(), command.files.end() - 1);
  evaluation.scores = read_ensemble(command, files, evaluation.rows, evaluation.index, &evaluation.order);
  require_labels(evaluation.scores.feature_count(), files.front(), evaluation.ks.size());
  warn_of_no_hit(command, evaluation);
  take_thresholds(command, evaluation);
  take_filter(command, evaluation);
  warn_of_no_label(command, evaluation);
  if (finds_thresholds_here(command))
    evaluation.thresholds = best_thresholds(evaluation.scores, evaluation.truth, command.goal);
}

}  // namespace slide::cli

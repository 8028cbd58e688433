#include "engine/cli/evaluate_results.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "datasets/data_writer.h"
#include "engine/base/error.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

SampleRatios ratios_of(const Evaluation& evaluation, const Dataset& scores, const Ranking& ranking,
                       int threads) {
  SampleRatios ratios = sample_ratios(ranking, evaluation.truth, *evaluation.empty_metrics, threads);
  if (evaluation.thresholds) add_f1(ratios, scores, evaluation.truth, *evaluation.thresholds);
  return ratios;
}

// Numbers of true labels, by occurrence: without a score in any row, and without a training sample.
struct Missing {
  std::uint64_t unscored = 0, untrained = 0;
};

// Counts occurrences of true labels that no row scores, and of those that no training sample has.
Missing missing_of(const Evaluation& evaluation) {
  std::vector<bool> scored(labels_of(evaluation));
  for (std::size_t i = 0; i < evaluation.scores.size(); ++i) {
    for (const std::uint32_t label : evaluation.scores.features(i).ids) scored[label] = true;
  }
  Missing missing;
  for (std::size_t i = 0; i < evaluation.truth.size(); ++i) {
    for (const std::uint32_t label : evaluation.truth.labels(i)) {
      missing.unscored += scored[label] ? 0 : 1;
      missing.untrained +=
          label < evaluation.label_samples.size() && evaluation.label_samples[label] > 0 ? 0 : 1;
    }
  }
  return missing;
}

void format_missing(const Evaluation& evaluation, EvaluationOutput& output) {
  const Missing missing = missing_of(evaluation);
  output.json["unscored_labels"] = missing.unscored;
  if (missing.unscored > 0)
    output.text +=
        fmt::format("missed are {} labels, as often as they occur, that have no score in any row\n",
                    grouped(missing.unscored));
  if (!evaluation.has_training) return;
  output.json["unknown_labels"] = missing.untrained;
  if (missing.untrained > 0)
    output.text += fmt::format("unknown are {} labels, as often as they occur, that training lacks\n",
                               grouped(missing.untrained));
}

void add_rates(const std::string& suffix, const Decisions& decisions, Json& json) {
  for_each_rate(decisions, [&](const std::string& name, double value) { json[name + suffix] = value; });
}

// A line for each mean of the rates.
std::string rate_lines(const std::string& given, const Decisions& decisions) {
  const auto line = [](const std::string& name, const char* mean, const Rates& rates) {
    return fmt::format("{:<18} {:<8} {:>9.4f} {:>8.4f} {:>8.4f}\n", name, mean, rates.precision, rates.recall,
                       rates.f1);
  };
  return line(given, "micro", decisions.micro) + line("", "macro", decisions.macro) +
         line("", "samples", decisions.samples);
}

// Precision, recall and F1 at the thresholds.
void format_thresholds(const EvaluateCommand& command, const Thresholds& thresholds,
                       const Decisions& decisions, EvaluationOutput& output) {
  const double common = thresholds.all();  // of labels without their own
  const std::size_t own = thresholds.own().size();
  output.json["threshold"] = std::isfinite(common) ? Json(common) : Json();
  if (own > 0) output.json["label_thresholds"] = own;
  add_rates("", decisions, output.json);
  if (own == 0) {
    output.text += rate_lines(fmt::format("scores from {:.6g}", common), decisions);
    return;
  }
  output.text += rate_lines("label thresholds", decisions);
  output.text +=
      fmt::format("{} labels have thresholds of their own, the others {:.6g}\n", grouped(own), common);
  if (!command.goal.precision) return;
  output.text += fmt::format(
      "precision {:.6g} holds for each of these labels alone, and where all labels have {:.6g}; the total "
      "may differ\n",
      *command.goal.precision, common);
}

// Precision, recall and F1 of the best k labels, at the thresholds, and on validation.
void format_decisions(const EvaluateCommand& command, const Evaluation& evaluation,
                      const EvaluationResults& results, EvaluationOutput& output) {
  output.text +=
      fmt::format("{:<18} {:<8} {:>9} {:>8} {:>8}\n", "labels given", "mean", "precision", "recall", "F1");
  for (std::size_t i = 0; i < evaluation.ks.size(); ++i) {
    add_rates(fmt::format("_at_{}", evaluation.ks[i]), results.best[i], output.json);
    output.text += rate_lines(fmt::format("the best {}", evaluation.ks[i]), results.best[i]);
  }
  if (!results.at_thresholds) return;
  format_thresholds(command, *evaluation.thresholds, *results.at_thresholds, output);
  if (!evaluation.validation) return;
  add_rates("", *evaluation.validation, output.json["validation"]);
  output.json["validation_f1_micro"] = evaluation.validation->micro.f1;
  output.text += rate_lines("on validation", *evaluation.validation);
}

Json bins_json(const Reliability& reliability) {
  Json json = Json::array();
  for (const Reliability::Bin& bin : reliability.bins) {
    if (bin.predictions == 0) continue;
    json.push_back({{"predictions", bin.predictions},
                    {"mean_score", bin.mean_score()},
                    {"true_share", bin.true_share()}});
  }
  return json;
}

void format_reliability(const EvaluationResults& results, EvaluationOutput& output) {
  if (!results.all_reliability || !results.top_reliability) return;
  const Reliability &all = *results.all_reliability, &top = *results.top_reliability;
  output.json["reliability"] = {{"error", all.error()},
                                {"bins", bins_json(all)},
                                {"top_error", top.error()},
                                {"top_bins", bins_json(top)}};
  output.text += fmt::format("expected calibration error {:.4f}, of the best label alone {:.4f}\n",
                             all.error(), top.error());
}

void format_groups(const Evaluation& evaluation, const Metrics& metrics, EvaluationOutput& output) {
  if (!metrics.has_groups()) return;
  output.json.update(metrics.groups_to_json());
  const std::uint32_t k = std::ranges::max(evaluation.ks);
  for (const LabelGroup group : kLabelGroups) {
    output.text += fmt::format("{:<6} labels: {:.4f} of P@{}, recall {:.4f}\n", name_of(group),
                               metrics.precision(k, group), k, metrics.recall(k, group));
  }
}

// Compares the metrics with those of the scores of --compare, on the same samples.
void format_comparison(const EvaluateCommand& command, Evaluation& evaluation, const SampleRatios& ratios,
                       EvaluationOutput& output) {
  std::vector<std::uint32_t> order;
  Dataset other = read_scores(command.compare, evaluation.rows, evaluation.index, &order);
  if (!evaluation.pairs.empty()) leave_out(evaluation.pairs, other, order);
  const Ranking ranking = ranked_in_order(other, order, max_k(evaluation), command.threads);
  Resampling resampling = command.measures.resampling(command.threads);
  if (resampling.count == 0) resampling.count = Resampling().count;
  const std::vector<Difference> differences =
      compare(ratios, ratios_of(evaluation, other, ranking, command.threads), resampling);
  Json json = Json::object();
  output.text += fmt::format("less {}:\n", command.compare);
  for (std::size_t m = 0; m < differences.size(); ++m) {
    const Difference& one = differences[m];
    json[ratios.names[m]] = {
        {"difference", one.value}, {"interval", {one.interval.low, one.interval.high}}, {"p_value", one.p}};
    output.text += fmt::format("{:<14} {:>+8.4f}, {:+.4f} .. {:+.4f} in 95 % of the draws, p = {:.4g}\n",
                               ratios.names[m], one.value, one.interval.low, one.interval.high, one.p);
  }
  output.json["compare"] = json;
}

void format_resampled(const EvaluateCommand& command, Evaluation& evaluation, const Ranking& ranking,
                      EvaluationOutput& output) {
  if (command.measures.bootstrap == 0 && command.compare.empty()) return;
  const SampleRatios ratios = ratios_of(evaluation, evaluation.scores, ranking, command.threads);
  if (command.measures.bootstrap > 0) {
    const std::vector<Interval> intervals = bootstrap(ratios, command.measures.resampling(command.threads));
    output.json["intervals"] = interval_json(ratios, intervals);
    output.text += interval_lines(ratios, intervals);
  }
  if (!command.compare.empty()) format_comparison(command, evaluation, ratios, output);
}

}  // namespace

// Computes the rankings, decisions, reliabilities and curve that the outputs need.
EvaluationResults results_of(const EvaluateCommand& command, const Evaluation& evaluation) {
  const Dataset &scores = evaluation.scores, &truth = evaluation.truth;
  EvaluationResults results{
      ranked_in_order(scores, evaluation.order, max_k(evaluation), command.threads), {}, {}, {}, {}, {}};
  for (const std::uint32_t k : evaluation.ks)
    results.best.push_back(decide_best(results.ranking, truth, k, labels_of(evaluation)));
  if (evaluation.thresholds) results.at_thresholds = decide(scores, truth, *evaluation.thresholds);
  results.all_reliability = reliability(scores, truth);
  results.top_reliability = top_reliability(scores, results.ranking, truth);
  if (!command.curve.empty() || !command.report.empty())
    results.curve = precision_recall_curve(scores, truth);
  return results;
}

// Adds each result to JSON and text, in the order of the output.
EvaluationOutput format_results(const EvaluateCommand& command, Evaluation& evaluation,
                                const EvaluationResults& results) {
  const Metrics metrics = measured(results.ranking, evaluation.truth, *evaluation.empty_metrics);
  const LabelCounts counts(results.ranking, evaluation.truth, evaluation.ks, labels_of(evaluation));
  EvaluationOutput output;
  output.json = {{"samples", evaluation.truth.size()}, {"labels", counts.labels()}};
  output.json.update(metrics.to_json());
  const bool log = metrics.has_first_hits() && evaluation.has_training;
  const Popularity popularity =
      log ? Popularity{evaluation.label_samples, evaluation.training_samples} : Popularity();
  output.json.update(coverage_json(counts, popularity));
  output.text = fmt::format("{} samples, {} labels, of which samples carry {}\n{}",
                            grouped(evaluation.truth.size()), grouped(counts.labels()),
                            grouped(counts.labels_with_samples()), table(metrics, counts, popularity));
  format_missing(evaluation, output);
  format_groups(evaluation, metrics, output);
  format_decisions(command, evaluation, results, output);
  format_reliability(results, output);
  format_resampled(command, evaluation, results.ranking, output);
  if (!command.measures.per_label.empty()) {
    const auto name = [&](std::uint32_t label) { return evaluation.index.name(label); };
    const LabelTable table{counts, evaluation.index.named() ? NameOf(name) : NameOf(),
                           evaluation.label_samples,
                           evaluation.thresholds ? &*evaluation.thresholds : nullptr,
                           results.at_thresholds ? &*results.at_thresholds : nullptr};
    write_label_table(command.measures.per_label, table);
  }
  return output;
}

void write_curve(const std::string& path, std::span<const CurvePoint> curve) {
  LineFile file(path);
  file.text() += "threshold,precision,recall,f1,predicted,hits";
  file.end_line();
  for (const CurvePoint& point : curve) {
    const Rates rates = point.counts.rates();
    fmt::format_to(std::back_inserter(file.text()), "{},{:.6g},{:.6g},{:.6g},{},{}", point.threshold,
                   rates.precision, rates.recall, rates.f1, point.counts.predicted, point.counts.hits);
    file.end_line();
  }
  file.finish();
}

}  // namespace slide::cli

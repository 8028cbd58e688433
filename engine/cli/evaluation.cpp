#include "engine/cli/evaluation.h"

#include <algorithm>

#include "datasets/data_writer.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

constexpr std::uint32_t kMaxRounds = 1000000;

// The name without characters that would end its column or line.
std::string one_column(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string head_of(const LabelTable& table) {
  std::string head = fmt::format("label{}{}\tpositives", table.name ? "\tname" : "",
                                 table.training.empty() ? "" : "\ttraining");
  for (const std::uint32_t k : table.counts.ks())
    head += fmt::format("\tpredicted_at_{0}\thits_at_{0}\tprecision_at_{0}\trecall_at_{0}\tf1_at_{0}", k);
  if (table.thresholds != nullptr) head += "\tthreshold\tpredicted\thits\tprecision\trecall\tf1";
  return head;
}

void add_counts(const DecisionCounts& counts, std::string& line) {
  const Rates rates = counts.rates();
  line += fmt::format("\t{}\t{}\t{:.6g}\t{:.6g}\t{:.6g}", counts.predicted, counts.hits, rates.precision,
                      rates.recall, rates.f1);
}

}  // namespace

std::vector<std::uint32_t> each_once(const std::vector<std::uint32_t>& ks) {
  std::vector<std::uint32_t> once;
  for (const std::uint32_t k : ks) {
    if (std::ranges::find(once, k) == once.end()) once.push_back(k);
  }
  return once;
}

void add_measures(CLI::App& app, MeasureOptions& options, const char* ks) {
  const auto take_ks = [&options](const std::vector<std::string>& values) {
    for (const std::string& k : values) options.ks.push_back(static_cast<std::uint32_t>(std::stoul(k)));
  };
  add_list(app, "--k", fmt::format("Ranks to measure at, as 1,3,5; default: {}", ks), whole(1, kMaxK),
           take_ks)
      ->type_name("K,K,...");
  app.add_option("--filter", options.filter, "Pairs that do not count: lines 'sample label', from 0")
      ->type_name("FILE");
  const auto take_constants = [&options](const std::vector<double>& constants) {
    options.propensity = PropensityConstants{constants[0], constants[1]};
  };
  app.add_option_function<std::vector<double>>("--propensity", take_constants,
                                               "Constants of PSP@k and PSnDCG@k, as 0.55,1.5")
      ->delimiter(',')
      ->expected(2)
      ->check(finite_number())
      ->type_name("A,B");
  app.add_option("--per-label", options.per_label,
                 "Write a table of all labels, its columns separated by tabs")
      ->type_name("FILE");
  app.add_option("--bootstrap", options.bootstrap, "Intervals of 95 % from so many draws of the samples")
      ->transform(whole(1, kMaxRounds))
      ->type_name("N");
  app.add_option("--seed", options.seed, "Seed of the draws")
      ->capture_default_str()
      ->transform(whole(0, kMaxSeed))
      ->type_name("N");
  app.add_flag("--json", options.json, "Print one JSON object");
}

// The metrics as text: a row for each k, ascending; columns without meaning for the data are left out.
std::string table(const Metrics& metrics, const LabelCounts& counts, const Popularity& popularity) {
  std::vector<std::size_t> order(counts.ks().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return counts.ks()[i]; });
  const bool psp = metrics.has_psp(), first_hits = metrics.has_first_hits();
  const bool novel = first_hits && popularity.samples > 0;
  std::string text =
      fmt::format("{:>6} {:>8} {:>8}{} {:>8}{}{} {:>8}{}{}\n", "k", "P", "nDCG", psp ? "      PSP" : "",
                  "recall", psp ? "   PSnDCG" : "", first_hits ? " hit rate      MRR" : "", "coverage",
                  first_hits ? " catalogue" : "", novel ? "  novelty" : "");
  for (const std::size_t i : order) {
    const std::uint32_t k = counts.ks()[i];
    text += fmt::format("{:>6} {:>8.4f} {:>8.4f}", k, metrics.precision(k), metrics.ndcg(k));
    if (psp) text += fmt::format(" {:>8.4f}", metrics.psp(k));
    text += fmt::format(" {:>8.4f}", metrics.recall(k));
    if (psp) text += fmt::format(" {:>8.4f}", metrics.psndcg(k));
    if (first_hits) text += fmt::format(" {:>8.4f} {:>8.4f}", metrics.hit_rate(k), metrics.mrr(k));
    text += fmt::format(" {:>8.4f}", counts.coverage(i));
    if (first_hits) text += fmt::format(" {:>9.4f}", counts.catalogue(i));
    if (novel) text += fmt::format(" {:>8.4f}", counts.novelty(i, popularity));
    text += '\n';
  }
  return text;
}

Json coverage_json(const LabelCounts& counts, const Popularity& popularity) {
  Json json = Json::object();
  for_each_coverage(counts, popularity, [&](const std::string& name, double value) { json[name] = value; });
  return json;
}

std::string interval_lines(const SampleRatios& ratios, std::span<const Interval> intervals) {
  std::string text;
  for (std::size_t m = 0; m < intervals.size(); ++m) {
    text += fmt::format("{:<14} {:.4f} .. {:.4f} in 95 % of the draws\n", ratios.names[m], intervals[m].low,
                        intervals[m].high);
  }
  return text;
}

Json interval_json(const SampleRatios& ratios, std::span<const Interval> intervals) {
  Json json = Json::object();
  for (std::size_t m = 0; m < intervals.size(); ++m)
    json[ratios.names[m]] = {intervals[m].low, intervals[m].high};
  return json;
}

// Writes a line per label: counts, rates at each k, and rates at the thresholds where there are any.
void write_label_table(const std::string& path, const LabelTable& table) {
  LineFile file(path);
  file.text() += head_of(table);
  file.end_line();
  const LabelCounts& counts = table.counts;
  for (std::uint32_t label = 0; label < counts.labels(); ++label) {
    std::string& line = file.text();
    line += std::to_string(label);
    if (table.name) line += '\t' + one_column(table.name(label));
    if (!table.training.empty())
      line += fmt::format("\t{}", label < table.training.size() ? table.training[label] : 0);
    line += fmt::format("\t{}", counts.positives(label));
    for (std::size_t i = 0; i < counts.ks().size(); ++i) {
      const LabelCounts::Predicted found = counts.predicted(label, i);
      add_counts({found.all, found.hits, counts.positives(label)}, line);
    }
    if (table.thresholds != nullptr) {
      line += fmt::format("\t{}", table.thresholds->of(label));
      const std::vector<DecisionCounts>& found = table.at_thresholds->labels;
      add_counts(label < found.size() ? found[label] : DecisionCounts(), line);
    }
    file.end_line();
  }
  file.finish();
}

}  // namespace slide::cli

// Common options and output of `slide test` and `slide evaluate`. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/inference/decisions.h"
#include "engine/inference/label_counts.h"
#include "engine/inference/metrics.h"
#include "engine/inference/resampling.h"
#include "engine/run/model_use.h"

namespace slide::cli {

using Json = nlohmann::ordered_json;

struct MeasureOptions {
  std::vector<std::uint32_t> ks;
  std::string filter;  // files, or empty
  std::string per_label;
  std::optional<PropensityConstants> propensity;
  std::uint32_t bootstrap = 0;  // rounds; 0: no intervals
  std::uint64_t seed = 1;
  bool json = false;

  Resampling resampling(int threads) const { return {bootstrap, seed, threads}; }
};

// The distinct values of `ks`, in order.
std::vector<std::uint32_t> each_once(const std::vector<std::uint32_t>& ks);

// Adds --k, --filter, --propensity, --per-label, --bootstrap, --seed and --json; `ks`: description of the
// default of --k.
void add_measures(CLI::App& app, MeasureOptions& options, const char* ks);

// One line for each k: P, nDCG, PSP (with propensities), recall, PSnDCG (with propensities), coverage; of
// interactions also hit rate, MRR, the share of the catalogue and, where `popularity` is known, novelty.
std::string table(const Metrics& metrics, const LabelCounts& counts, const Popularity& popularity = {});
// {"coverage_at_1": .., "catalogue_at_1": .., "novelty_at_1": ..}, the last where `popularity` is known.
Json coverage_json(const LabelCounts& counts, const Popularity& popularity = {});

// One line per metric with its interval; {"p_at_1": [low, high], ..}.
std::string interval_lines(const SampleRatios& ratios, std::span<const Interval> intervals);
Json interval_json(const SampleRatios& ratios, std::span<const Interval> intervals);

// The columns of a table of labels, a row per label.
using NameOf = std::function<std::string_view(std::uint32_t)>;
struct LabelTable {
  const LabelCounts& counts;
  NameOf name;                                   // returns a label's name; null where labels have none
  std::span<const std::uint32_t> training = {};  // training samples per label, or empty
  // Thresholds, and what labels at them are; both or neither.
  const Thresholds* thresholds = nullptr;
  const Decisions* at_thresholds = nullptr;
};
// Writes a header and a line per label, separated by tabs: label, name, training samples, positives; for each
// k predictions, hits, precision, recall and F1; the same at the threshold. Throws Error where the file
// cannot be written.
void write_label_table(const std::string& path, const LabelTable& table);

}  // namespace slide::cli

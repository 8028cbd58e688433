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

// One line for each k: P, nDCG, PSP (with propensities), recall, PSnDCG (with propensities), coverage.
std::string table(const Metrics& metrics, const LabelCounts& counts);
// {"coverage_at_1": .., "catalogue_at_1": ..}.
Json coverage_json(const LabelCounts& counts);

// One line per metric with its interval; {"p_at_1": [low, high], ..}.
std::string interval_lines(const SampleRatios& ratios, std::span<const Interval> intervals);
Json interval_json(const SampleRatios& ratios, std::span<const Interval> intervals);

// Writes a tab-separated table of counts per label. `name`: returns a label's name, or empty where labels
// have none; `training`: training samples per label, or empty. Throws Error where the file cannot be written.
using NameOf = std::function<std::string_view(std::uint32_t)>;
void write_label_table(const std::string& path, const LabelCounts& counts, const NameOf& name,
                       std::span<const std::uint32_t> training);

}  // namespace slide::cli

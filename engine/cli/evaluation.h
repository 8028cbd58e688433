// What `slide test` and `slide evaluate` have in common: options, and how measures are told. For one thread.
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

// Each of `ks` once, in their order.
std::vector<std::uint32_t> each_once(const std::vector<std::uint32_t>& ks);

// --k, --filter, --propensity, --per-label, --bootstrap, --seed and --json; `ks`: what --k is by default.
void add_measures(CLI::App& app, MeasureOptions& options, const char* ks);

// A line for each k, of P, nDCG, PSP where there are propensities, recall, PSnDCG likewise, and coverage.
std::string table(const Metrics& metrics, const LabelCounts& counts);
// {"coverage_at_1": .., "catalogue_at_1": ..}.
Json coverage_json(const LabelCounts& counts);

// A line for each measure with its interval; {"p_at_1": [low, high], ..}.
std::string interval_lines(const SampleRatios& ratios, std::span<const Interval> intervals);
Json interval_json(const SampleRatios& ratios, std::span<const Interval> intervals);

// Writes a table of tabs: what became of each label. `name`: of a label, or nothing where labels have none;
// `training`: samples of each label in training, or nothing. Throws Error when the file cannot be written.
using NameOf = std::function<std::string_view(std::uint32_t)>;
void write_label_table(const std::string& path, const LabelCounts& counts, const NameOf& name,
                       std::span<const std::uint32_t> training);

}  // namespace slide::cli

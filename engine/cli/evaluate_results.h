// Results of `slide evaluate`, as JSON, text and files. One thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cli/evaluate_command.h"
#include "engine/inference/reliability.h"

namespace slide::cli {

struct EvaluationResults {
  Ranking ranking;
  std::vector<Decisions> best;  // of the best k, for each rank of the metrics
  std::optional<Decisions> at_thresholds;
  std::optional<Reliability> all_reliability, top_reliability;
  std::vector<CurvePoint> curve;  // where it is asked for
};
EvaluationResults results_of(const EvaluateCommand& command, const Evaluation& evaluation);

// Results as JSON and as text.
struct EvaluationOutput {
  Json json;
  std::string text;
};
// Reads --compare; writes the table of --per-label.
EvaluationOutput format_results(const EvaluateCommand& command, Evaluation& evaluation,
                                const EvaluationResults& results);

// A line for each point, of numbers separated by commas, after a header. Throws Error where it cannot be
// written.
void write_curve(const std::string& path, std::span<const CurvePoint> curve);

}  // namespace slide::cli

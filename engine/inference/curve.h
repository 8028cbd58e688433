// The precision-recall curve of scores, and the thresholds that are best by it. Scores and true labels as in
// ranking.h. Functions are safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/inference/decisions.h"

namespace slide {

// Precision and recall at a threshold: scores of at least the threshold count as predictions.
struct CurvePoint {
  float threshold = 0;
  DecisionCounts counts;
};

// A point for each distinct score, highest first, over all (sample, label) pairs; true labels without a score
// are missed at every threshold. O(n log n) for n scores.
std::vector<CurvePoint> precision_recall_curve(const Dataset& scores, const Dataset& truth);

// Criterion for the choice of a threshold.
struct ThresholdGoal {
  // The lowest threshold, and so the highest recall, of at least this precision; none: the highest F1.
  std::optional<double> precision = {};
  // Labels with as many true samples get thresholds of their own; 0: none does.
  std::uint32_t label_samples = 0;
};

// The threshold that reaches a goal over all pairs; of equal F1, the one of the highest score. It lies
// halfway between the lowest predicted score and the next lower one (without a lower one at score - 0.5
// |score|): scores may differ a little. Where no score gives the wanted precision it is threshold_above() the
// highest score, which predicts nothing; infinity without scores.
struct BestThreshold {
  float threshold = 0;
  Rates rates;
};
BestThreshold best_threshold(const Dataset& scores, const Dataset& truth, const ThresholdGoal& goal = {});

// A threshold that no score up to `score` reaches, though it be computed with other rounding: above it by a
// hundredth, but at least 1e-4.
float threshold_above(float score);

// The threshold over all pairs, and a threshold for each label that has a score and at least
// goal.label_samples true samples (if not 0). O(n log n).
Thresholds best_thresholds(const Dataset& scores, const Dataset& truth, const ThresholdGoal& goal);

}  // namespace slide

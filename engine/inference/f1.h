// F1 of the labels whose scores reach a threshold: 2 * hits / (predicted + true labels), the harmonic mean of
// precision and recall. Scores and true labels as in ranking.h; a label without a score is not predicted.
// Functions are safe from any thread.
#pragma once

#include <cstdint>

#include "datasets/rows/dataset.h"

namespace slide {

struct F1 {
  double micro = 0;    // over all (sample, label) pairs
  double macro = 0;    // mean over the labels that are true or predicted somewhere
  double samples = 0;  // mean over samples; 0 for a sample with neither true nor predicted labels
};

// Predicted labels of a sample at a threshold, and how many of them are true.
struct Reached {
  std::uint64_t predicted = 0, hits = 0;
};
Reached reached(const Dataset& scores, const Dataset& truth, std::size_t sample, float threshold);

F1 f1_at(const Dataset& scores, const Dataset& truth, float threshold);

// The threshold of best micro F1, the highest one in case of ties; infinity where there are no scores.
struct BestThreshold {
  float threshold = 0;
  double f1_micro = 0;
};
BestThreshold best_threshold(const Dataset& scores, const Dataset& truth);

}  // namespace slide

// F1 of the labels whose scores reach a threshold: 2 hits / (predicted + true labels), the harmonic mean of
// precision and recall. Scores and true labels as in ranking.h; what has no score is not predicted. Functions
// are safe to call from any thread.
#pragma once

#include <cstdint>

#include "datasets/dataset.h"

namespace slide {

struct F1 {
  double micro = 0;    // of the pairs of all samples together
  double macro = 0;    // mean over the labels that are there or predicted
  double samples = 0;  // mean over the samples; one with neither true nor predicted labels counts as 0
};

// What is predicted of a sample at a threshold.
struct Reached {
  std::uint64_t predicted = 0, hits = 0;
};
Reached reached(const Dataset& scores, const Dataset& truth, std::size_t sample, float threshold);

F1 f1_at(const Dataset& scores, const Dataset& truth, float threshold);

// The score that as a threshold gives the best micro F1; of several the highest. Without a score infinity.
struct BestThreshold {
  float threshold = 0;
  double f1_micro = 0;
};
BestThreshold best_threshold(const Dataset& scores, const Dataset& truth);

}  // namespace slide

// All labels of a sample whose scores reach a threshold, however many there are. Functions are safe to call
// from any thread.
#pragma once

#include <cstddef>
#include <functional>

#include "datasets/rows/dataset.h"
#include "engine/inference/inference.h"

namespace slide {

// Whether a score that is written with six digits, as `slide predict` prints it, reaches a threshold: what
// is written is compared, so that a threshold that was found among written scores keeps its own score. One of
// more digits was found among floats, and is compared with the float.
bool reaches_written(double score, double threshold);

// Whether a score of a Predictor reaches the threshold; false for all that rank after one that does not.
using Reaches = std::function<bool(float score)>;

// How a call of Predictor::predict goes: on one thread or several.
using PredictCall =
    std::function<void(const Dataset& data, const Predictor::Wanted& wanted, const Predictor::Sink& sink)>;

struct ReachingLimits {
  std::size_t labels = 0;      // of the network
  std::size_t max_scores = 0;  // samples times labels that one call may ask for; 0: no limit
};

// Calls sink(sample, best) for every row of `data`, each once, with all labels that reach the threshold, best
// score first, whatever InferenceOptions::rare is, from as many threads as `call` does. Asks for few labels
// first, and of samples that have more for eight times as many, with Inference::kAuto of all neurons. Throws
// InputError where `limits.max_scores` does not suffice.
void predict_reaching(const Dataset& data, Predictor::Wanted wanted, const ReachingLimits& limits,
                      const Reaches& reaches, const PredictCall& call, const Predictor::Sink& sink);

}  // namespace slide

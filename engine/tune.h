// Search for a good configuration on a validation split of the training data, in a limited time.
//
// Trial 1 is the configuration as it is. Every other trial changes one or two keys of the best so far: a
// local random search. A trial that is not done when the time is up counts for nothing. The same seed gives
// the same trials; how many there are depends on the time, unless `trials` limits them first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "engine/config.h"

namespace slide {

struct TuneOptions {
  double seconds = 600.0;          // for all trials together
  std::uint32_t trials = 1000;     // at most
  std::vector<std::string> fixed;  // overrides, as of load_config: their keys keep their values
};

struct Trial {
  std::uint32_t number = 0;          // from 1
  std::vector<std::string> changes;  // overrides of the configuration that the search began with
  double score = 0.0;                // mean of P@k over eval.k, on the validation part
  double train_seconds = 0.0;
  bool is_best = false;  // so far
};

struct TuneResult {
  Config config;
  Trial best;
  std::uint32_t trials = 0;
  std::size_t train_samples = 0, validation_samples = 0;
};

// `trial` (may be empty) is called after each trial. Throws InputError when the data are too few to split or
// the time was too short for a single trial, and what the training of trial 1 throws; a later trial that
// diverges scores 0.
TuneResult tune(const Config& start, const Dataset& data, const TuneOptions& options,
                const std::function<void(const Trial&)>& trial);

}  // namespace slide

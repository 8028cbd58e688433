// Search for a good configuration on validation splits of the training data, in a limited time: on one, or
// where that would hold few samples, on up to five whose validation parts differ, and trials are scored by
// their mean.
//
// Trial 1 is the configuration as it is. Then one sweep changes a single key at a time to the value next to
// the present one (search_space.h), the most promising keys first: what scores better is kept at once, and
// the same key goes on in that direction. After the sweep, trials change one or two keys of the best so far
// at random. A trial that is not done when the time is up counts for nothing. The same seed gives the same
// trials; how many there are depends on the time, unless `trials` limits them first.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"

namespace slide {

struct TuneOptions {
  double seconds = 600.0;          // for all trials together
  std::uint32_t trials = 1000;     // at most
  std::vector<std::string> fixed;  // overrides, as of load_config: their keys keep their values
  // Only configurations that train on all the data in at most so long, as estimated, can be the best. While
  // there is none, the search looks for one that trains sooner. Trials then depend on the machine's speed,
  // too.
  double train_seconds = std::numeric_limits<double>::infinity();
  // What trials are scored on, trained on all the data; without, on parts of the data that are held out.
  std::optional<Dataset> validation = {};
  // Asked after each step of a trial; false: the search ends with what is best so far. May be empty.
  std::function<bool()> go_on = {};
  // Of the processes that train each trial together, of which the first looks at the clock; or nullptr.
  Cluster* cluster = nullptr;
};

// Why a trial was made.
enum class TrialStage {
  kStart,   // the configuration as it is
  kSweep,   // one key of the best so far, to its next value
  kRandom,  // one or two keys of the best so far at random
};

struct Trial {
  std::uint32_t number = 0;  // from 1
  TrialStage stage = TrialStage::kStart;
  std::uint32_t from = 0;            // the trial whose settings it changes; 0: none
  std::vector<std::string> changes;  // overrides of the configuration that the search began with
  double score = 0.0;                // mean of P@k over eval.k, on the validation part; 0 when not within
  std::vector<double> precision;     // P@k for each of eval.k, of which the score is the mean; empty without
  double train_seconds = 0.0;        // of this trial, on all splits
  double full_seconds = 0.0;         // estimate: of training on all the data, from the slowest split
  bool within = true;                // full_seconds are at most TuneOptions::train_seconds
  bool stopped = false;              // before its end, because it was not
  bool diverged = false;             // scores 0
  bool is_best = false;              // so far
  double ended = 0.0;                // seconds since the search began
};

struct TuneResult {
  Config start;  // what trials change
  Config config;
  Trial best;
  std::uint32_t trials = 0;
  std::size_t folds = 0;               // splits that each trial is trained and scored on
  std::size_t train_samples = 0;       // of one split
  std::size_t validation_samples = 0;  // of all splits
};

// `trial` (may be empty) is called after each trial. Throws InputError when the data are too few to split,
// the time was too short for a single trial or no trial was within train_seconds, and what the training of
// trial 1 throws; a later trial that diverges scores 0. Of several processes all call it and get the same.
TuneResult tune(const Config& start, const Dataset& data, const TuneOptions& options,
                const std::function<void(const Trial&)>& trial);

}  // namespace slide

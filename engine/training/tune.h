// Hyperparameter search in a limited time, on validation splits of the training data. Large sets have one
// split. Small sets have up to five splits with different validation parts; a trial's score is the mean over
// them. Samples with times have one split, whose validation part are the latest (datasets/rows/split.h).
//
// Order of trials:
// 1. Trial 1 is the given configuration.
// 2. Configurations that have suited data of this shape (proposals.h).
// 3. A coordinate search: one sweep changes a single key at a time to the next value (search_space.h), the
//    most promising keys first. A better configuration is kept at once, and the same key moves on in that
//    direction, also where only another KnnMix made the trial better.
// 4. A random search: trials change one or two keys of the best configuration at random.
//
// Most trials are short: one that is clearly behind the best so far on the first splits, or on a part of the
// samples of a large set, is pruned (trial_runner.h). How much the kNN prediction counts affects prediction
// alone: every trial that is trained to its end is scored with other values of these keys too (KnnMix), the
// first trial with all values. A better mix is a trial of its own, without training. When the time is up, the
// remaining mixes are not scored.
//
// The best of many trials is partly the luckiest (selection bias). Half of the held-out samples choose no
// trial; they decide once between the best trial and trial 1. The best trial wins only where a paired
// randomisation test has p <= 0.05 (resampling.h). The test is two-sided: among equal trials, one search in
// forty changes the configuration. One test on samples of its own needs no correction for the number of
// trials, which follow from one another and may be hundreds (data splitting: Cox, "A note on data-splitting
// for the evaluation of significance levels", Biometrika 62, 1975). No test where trial 1 is too slow.
//
// A trial that is not done when the time is up counts for nothing. The same seed gives the same trials on any
// number of threads; how many there are depends on the time, unless `trials` limits them first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "datasets/rows/dataset.h"
#include "engine/config/config.h"
#include "engine/inference/resampling.h"
#include "engine/training/trial.h"

namespace slide {

struct TuneResult {
  Config start;  // configuration of trial 1
  Config config;
  Trial best;  // the trial of `config`: the leader, or trial 1
  std::uint32_t trials = 0;
  std::size_t folds = 0;               // splits that each trial is trained and scored on
  std::size_t train_samples = 0;       // of one split
  std::size_t validation_samples = 0;  // that choose trials, of all splits
  std::size_t decision_samples = 0;    // held-out samples that decide on the best trial, of all splits
  std::uint32_t leader = 0;            // number of the trial of highest score
  // Score of the leader minus score of trial 1 on the decision samples; nullopt where the leader is trial 1,
  // or trial 1 was too slow.
  std::optional<Difference> gain = {};
  std::string validation_by;  // choice of validation samples: split_rule(), or "file"
};

// `trial` (may be empty) is called after each trial. Throws InputError when the data are too few to split,
// the time was too short for a single trial or no trial was within train_seconds, and what the training of
// trial 1 throws; a later trial that diverges scores 0. Of several processes all call it and get the same.
TuneResult tune(const Config& start, const Dataset& data, const TuneOptions& options,
                const std::function<void(const Trial&)>& trial);

}  // namespace slide

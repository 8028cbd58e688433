// Search for a good configuration on validation splits of the training data, in a limited time: on one, or
// where that would hold few samples, on up to five whose validation parts differ, and trials are scored by
// their mean. Samples with times have one, whose validation part are the latest (datasets/rows/split.h).
//
// Trial 1 is the configuration as it is. Then come configurations that have suited sets of this shape
// (proposals.h), then one sweep that changes a single key at a time to the value next to the present one
// (search_space.h), the most promising keys first: what scores better is kept at once, and the same key goes
// on in that direction, also where only another KnnMix made it better. After the sweep, trials
// change one or two keys of the best so far at random.
//
// Most trials are short: one that is clearly behind the best so far on the first splits, or on a part of the
// samples of a large set, is pruned (trial_runner.h). How much the kNN prediction counts affects prediction
// alone: every trial that is trained to its end is scored with other values of these keys too (KnnMix), the
// first one with all. A better mix is a trial of its own, without training. Where the time is up, the
// remaining mixes are not scored.
//
// The best of many trials is partly the luckiest. So half of the held-out samples, on which no trial was
// chosen, decide between it and trial 1, once: the configuration changes only where the best is better by a
// paired randomisation test with p <= 0.05 (resampling.h; two-sided, so that one in forty searches among
// trials that are all equal takes one). One test on samples of its own needs no correction for the number of
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
  Config start;  // what trials change
  Config config;
  Trial best;  // what `config` is: the one of highest score, or trial 1
  std::uint32_t trials = 0;
  std::size_t folds = 0;               // splits that each trial is trained and scored on
  std::size_t train_samples = 0;       // of one split
  std::size_t validation_samples = 0;  // that trials are scored on, of all splits
  std::size_t decision_samples = 0;    // further ones, of all splits
  std::uint32_t leader = 0;            // number of the trial of highest score
  // Score of the leader minus that of trial 1 on the decision samples; none where it is trial 1, or that was
  // too slow.
  std::optional<Difference> gain = {};
  std::string validation_by;  // how these were chosen: as split_rule() says, or "file"
};

// `trial` (may be empty) is called after each trial. Throws InputError when the data are too few to split,
// the time was too short for a single trial or no trial was within train_seconds, and what the training of
// trial 1 throws; a later trial that diverges scores 0. Of several processes all call it and get the same.
TuneResult tune(const Config& start, const Dataset& data, const TuneOptions& options,
                const std::function<void(const Trial&)>& trial);

}  // namespace slide

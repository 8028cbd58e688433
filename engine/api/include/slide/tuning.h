// Search for a good configuration on samples in memory, as `slide tune`.
#pragma once

#include <slide/config.h>
#include <slide/data.h>
#include <slide/export.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace slide::api {

struct TuneOptions {
  double seconds = 600.0;        // time limit for all trials
  std::uint32_t trials = 1000;   // max number
  Config::Overrides fixed = {};  // keys that keep these values
  // Only configurations whose estimated training time on all data is at most this can be the best.
  double train_seconds = std::numeric_limits<double>::infinity();
};

// One configuration, trained on a part of the samples and evaluated on the rest.
struct Trial {
  std::uint32_t number = 0;    // from 1
  Config::Overrides changes;   // relative to the start configuration
  double score = 0.0;          // mean of P@k over eval.k
  double train_seconds = 0.0;  // of this trial
  double full_seconds = 0.0;   // estimated training time on all samples
  bool within = true;          // full_seconds <= TuneOptions::train_seconds
  bool diverged = false;       // score is 0
  bool best = false;           // so far
  bool dropped = false;        // pruned for being behind; score is 0
  bool too_large = false;      // not trained: not enough memory; score is 0
  bool taken = false;          // best so far, and trial 1 or better than that by more than chance
};

struct TuneResult {
  Config config;  // `start` with `best.changes`
  Trial best;     // of highest score, where better than trial 1 by more than chance, else trial 1
  std::uint32_t trials = 0;
  std::size_t folds = 0;               // splits per trial
  std::size_t train_samples = 0;       // of one split
  std::size_t validation_samples = 0;  // that trials are scored on, of all splits
  std::string validation_by;           // how they are chosen: "random", "group", "time", "order", "file"
  std::size_t decision_samples = 0;    // held out, of all splits; they choose no trial
  std::uint32_t leader = 0;            // number of the trial of highest score
  // Score of the leader minus score of trial 1 on the decision samples, with a 95 % bootstrap interval and
  // the p-value of a paired randomisation test. Difference 0 and p 1 where the leader is trial 1, or trial 1
  // was too slow.
  double difference = 0.0;
  double low = 0.0, high = 0.0;
  double p = 1.0;
};

// Any may be empty. Called on the calling thread; exceptions leave tune() unchanged.
struct TuneCallbacks {
  std::function<void(const Trial&)> trial;
  // Receives a line where samples stand in an order that matters, before the first trial.
  std::function<void(const std::string&)> note = {};
  // Called after each step of a trial, and before each evaluation of other kNN parameters; returning false
  // ends the search with the best result so far.
  std::function<bool()> step;
};

// Searches from `start`: first one key at a time, then random changes of one or two keys, as long as the
// score on held-out parts of `data` rises. Equal seeds give equal trials; their number depends on the time
// unless `trials` limits it. Throws InputError where there are too few samples to split, where no trial
// finished in time, and where none is within train_seconds.
SLIDE_API TuneResult tune(const Config& start, const Data& data, const TuneOptions& options = {},
                          const TuneCallbacks& callbacks = {});

}  // namespace slide::api

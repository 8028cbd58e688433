// The search for a good configuration, on samples in memory; `slide tune` for programs.
#pragma once

#include <slide/config.h>
#include <slide/data.h>
#include <slide/export.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace slide::api {

struct TuneOptions {
  double seconds = 600.0;        // for all trials together
  std::uint32_t trials = 1000;   // at most
  Config::Overrides fixed = {};  // their keys keep the values they have here
  // Only configurations that train on all the data in so long, as estimated, can be the best.
  double train_seconds = std::numeric_limits<double>::infinity();
};

// One configuration, trained on a part of the samples and measured on others.
struct Trial {
  std::uint32_t number = 0;    // from 1
  Config::Overrides changes;   // of the configuration that the search began with
  double score = 0.0;          // mean of P@k over eval.k
  double train_seconds = 0.0;  // of this trial
  double full_seconds = 0.0;   // estimate: of training on all the samples
  bool within = true;          // full_seconds are at most TuneOptions::train_seconds
  bool diverged = false;       // scores 0
  bool best = false;           // so far
  bool dropped = false;        // on the way, because it was behind; scores 0
  bool too_large = false;      // not trained, for want of memory; scores 0
};

struct TuneResult {
  Config config;  // the best: `start` with `best.changes`
  Trial best;
  std::uint32_t trials = 0;
  std::size_t folds = 0;               // splits that each trial is trained and measured on
  std::size_t train_samples = 0;       // of one split
  std::size_t validation_samples = 0;  // of all splits
};

// Each may be left out. They come on the calling thread; what they throw comes out of tune() as it is.
struct TuneCallbacks {
  std::function<void(const Trial&)> trial;
  // After each step of a trial, and before other votes of neighbours are measured; false: the
  // search ends with what is best so far.
  std::function<bool()> step;
};

// Searches from `start` on: first one key after the other, then one or two at random, as long as the score on
// held-out parts of `data` rises. The same seed gives the same trials; how many there are depends on the
// time, unless `trials` limits them first. Throws InputError when the data are too few to split, and when no
// trial was done in the time, or none within train_seconds.
SLIDE_API TuneResult tune(const Config& start, const Data& data, const TuneOptions& options = {},
                          const TuneCallbacks& callbacks = {});

}  // namespace slide::api

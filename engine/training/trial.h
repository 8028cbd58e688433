// What a search may do, and what each of its trials shows. See tune.h.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/knn/training_rows.h"

namespace slide {

struct TuneOptions {
  double seconds = 600.0;          // for all trials together
  std::uint32_t trials = 1000;     // at most
  std::vector<std::string> fixed;  // overrides, as of load_config: their keys keep their values
  // Only configurations that train on all the data in at most so long, as estimated, can be the best. While
  // there is none, the search looks for one that trains sooner. Trials then depend on the machine's speed,
  // too.
  double train_seconds = std::numeric_limits<double>::infinity();
  const char* train_seconds_option = "--train-seconds";  // for messages
  // What trials are scored on, trained on all the data; without, on parts of the data that are held out.
  std::optional<Dataset> validation = {};
  // Receives a line about how samples are held out, before the first trial. May be empty.
  std::function<void(const std::string& line)> note = {};
  // Asked after each step of a trial and before other votes are measured; false: the search ends with what is
  // best so far. May be empty.
  std::function<bool()> go_on = {};
  // Throws InputError where the memory left would not do for training so. May be empty.
  std::function<void(const Config& config, const TrainingRows& rows)> require_memory = {};
  // Of the processes that train each trial together, of which the first looks at the clock; or nullptr.
  Cluster* cluster = nullptr;
};

// Why a trial was made.
enum class TrialStage {
  kStart,     // the configuration as it is
  kSweep,     // one key of the best so far, to its next value
  kRandom,    // one or two keys of the best so far at random
  kProposal,  // what has suited sets of this shape
  kVotes,     // other votes of neighbours for the trial that it changes, which is not trained anew
};

struct Trial {
  std::uint32_t number = 0;  // from 1
  TrialStage stage = TrialStage::kStart;
  // The trial whose settings it changes; of a proposal, which changes the start, the best so far, which it is
  // raced against. 0: none.
  std::uint32_t from = 0;
  std::vector<std::string> changes;  // overrides of the configuration that the search began with
  double score = 0.0;                // mean of P@k over eval.k, on the validation part; 0 when not within
  std::vector<double> precision;     // P@k for each of eval.k, of which the score is the mean; empty without
  // What it scored on each rung of the race that it got to: splits, or before them a part of a large one.
  std::vector<double> rungs;
  // The score of each decision sample (trial_splits.h), of trial 1 and those that were the best so far; else
  // empty.
  std::vector<float> decision;
  double gain = 0.0;           // of score over that of trial `from`, on the rungs that both were scored on
  bool dropped = false;        // on the way, because it was behind; scores 0
  double train_seconds = 0.0;  // of this trial, on all splits
  // Estimate: of training on all the data, from the slowest split; of one that a part of a large set was
  // enough for, from that, which is too much.
  double full_seconds = 0.0;
  // full_seconds are at most TuneOptions::train_seconds, or nothing but such a part tells.
  bool within = true;
  bool stopped = false;    // before its end, because it was not
  bool diverged = false;   // scores 0
  bool too_large = false;  // not trained, for want of memory; scores 0
  bool is_best = false;    // so far
  // The best so far, and trial 1 or better than that by more than chance (TuneResult::gain).
  bool taken = false;
  double ended = 0.0;  // seconds since the search began

  // How it ended, in a word or two.
  const char* outcome() const {
    if (too_large) return "too large";
    if (stopped) return "stopped";
    if (!within) return "too slow";
    if (diverged) return "diverged";
    return dropped ? "dropped" : "scored";
  }
  bool is_scored() const { return within && !stopped && !diverged && !dropped && !too_large; }
};

}  // namespace slide

// Options of a search and results of its trials (tune.h). Plain data.
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
  std::uint32_t trials = 1000;     // max number
  std::vector<std::string> fixed;  // overrides, as of load_config: their keys keep their values
  // Max estimated time of training on all the data, of a configuration that can be the best. While there is
  // none, the search looks for one that trains faster. With a limit, trials depend on the machine's speed.
  double train_seconds = std::numeric_limits<double>::infinity();
  const char* train_seconds_option = "--train-seconds";  // for messages
  // Samples that trials are scored on, after training on all the data; nullopt: samples of the data are held
  // out.
  std::optional<Dataset> validation = {};
  // Receives a line about how samples are held out, before the first trial. May be empty.
  std::function<void(const std::string& line)> note = {};
  // Called after each step of a trial and before each further KnnMix is scored; returns false to end the
  // search with the best trial so far. May be empty.
  std::function<bool()> go_on = {};
  // Throws InputError where free memory does not suffice to train `config` on `rows`. May be empty.
  std::function<void(const Config& config, const TrainingRows& rows)> require_memory = {};
  // The processes that train each trial together; the clock of the first counts. nullptr for a single
  // process.
  Cluster* cluster = nullptr;
};

// Why a trial was made.
enum class TrialStage {
  kStart,     // the configuration that the search starts from
  kSweep,     // one key of the best so far, to its next value
  kRandom,    // one or two keys of the best so far at random
  kProposal,  // a configuration that has suited data sets of this shape
  kKnnMix,    // another KnnMix for trial `from`, whose network it scores
};

struct Trial {
  std::uint32_t number = 0;  // from 1
  TrialStage stage = TrialStage::kStart;
  // The trial whose configuration it changes, and with which it is compared. A proposal changes the start,
  // and is compared with the best so far. 0: none.
  std::uint32_t from = 0;
  std::vector<std::string> changes;  // overrides of the configuration that the search began with
  double score = 0.0;                // mean of `precision`; 0 without
  std::vector<double> precision;     // P@k of the validation samples, for each of eval.k; empty: not scored
  // Score on each rung that it has run (trial_runner.h).
  std::vector<double> rungs;
  // Score of each decision sample (trial_splits.h), for trial 1 and trials that were the best so far; else
  // empty.
  std::vector<float> decision;
  double gain = 0.0;           // score minus score of trial `from`, on the rungs that both ran
  bool pruned = false;         // stopped between two rungs, because its gain was too low; scores 0
  double train_seconds = 0.0;  // of this trial, on all rungs
  // Estimated time of training on all the data, by the slowest fold; of a trial that only ran the short rung,
  // by that rung, which overestimates.
  double full_seconds = 0.0;
  // Whether full_seconds is within TuneOptions::train_seconds; of a trial that only ran the short rung,
  // whether that rung alone was.
  bool within = true;
  bool stopped = false;    // within a rung, because of TuneOptions::train_seconds
  bool diverged = false;   // scores 0
  bool too_large = false;  // memory did not suffice; scores 0
  bool is_best = false;    // when it ended
  // is_best, and either trial 1 or significantly better than trial 1 (TuneResult::gain).
  bool taken = false;
  double ended = 0.0;  // seconds since the search began

  // How it ended, as reports and logs say it.
  const char* outcome() const {
    if (too_large) return "too large";
    if (stopped) return "stopped";
    if (!within) return "too slow";
    if (diverged) return "diverged";
    return pruned ? "dropped" : "scored";
  }
  bool is_scored() const { return within && !stopped && !diverged && !pruned && !too_large; }
};

}  // namespace slide

// Trains and scores the trials of a search on its rungs, one after the other. A rung is a data set to train
// on with samples to score on: the folds, and before a single large fold a short rung, a part of it. After
// each rung, a trial that is clearly behind its baseline is pruned; so most trials are short.
//
// One thread calls it; it trains with train.threads threads. `options` must outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/inference/prediction_batch.h"
#include "engine/training/knn_fit.h"
#include "engine/training/trial.h"
#include "engine/training/trial_splits.h"

namespace slide {

class Trainer;

// Keys of [neighbours] that affect prediction alone: a trained network can be scored with several.
struct KnnMix {
  double share = 0.0;
  double power = 0.0;
  double cooccurrence = 0.0;
  bool operator==(const KnnMix&) const = default;
};

// Input of a trial, and results beside its Trial.
struct TrialRun {
  Config config;
  // Trial whose scores on the same rungs it must reach; nullptr: it is never pruned.
  const Trial* baseline = nullptr;
  // Further values to score with the trained network, besides the KnnMix of `config`. TrialRunner::run()
  // removes the mixes that it has no time for.
  std::vector<KnnMix> mixes;
  // For each mix: P@k as in Trial::precision, empty where the mix was not scored on all validation samples;
  // and scores as in Trial::decision.
  std::vector<std::vector<double>> precision;
  std::vector<std::vector<float>> decision;
};

class TrialRunner {
 public:
  // Throws InputError when the data are too few to split.
  TrialRunner(const Config& start, const Dataset& data, const TuneOptions& options);

  std::size_t folds() const { return rungs_.size() - first_fold_; }
  std::size_t train_samples() const { return rungs_.back().data.train.samples(); }
  std::size_t validation_samples() const;
  const std::string& validation_by() const { return validation_by_; }
  const TrialDecision& decision() const { return *decision_; }

  // Trains and scores run.config; fills in the results of `trial` and `run`. Returns false where the search
  // ends first. Throws InputError where memory does not suffice for trial 1, and what training throws.
  bool run(TrialRun& run, Trial& trial);
  bool ended() const { return ended_; }  // by TuneOptions::go_on
  double seconds() const;                // since the search began

  // `value` of the first process, in all: their clocks differ.
  template <class T>
  T of_first(T value) const {
    if (cluster_ != nullptr) cluster_->broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
    return value;
  }

 private:
  struct Rung {
    TrialSplit data;
    double share = 1.0;  // its training samples, by all samples
    // Cached for the next trial: the rows with crosses, the feature weights of the kNN prediction, and the
    // keys that both were made with.
    std::optional<TrainingRows> rows = {};
    std::shared_ptr<const LearntWeights> learnt = nullptr;
    std::uint32_t crosses = 0;
    double idf_power = 0.0;
  };
  const TrainingRows& rows_for(const Config& config, Rung& rung) const;
  bool has_memory(const Config& config, const TrainingRows& rows, Trial& trial) const;
  bool train(const TrialRun& run, std::size_t rung, Trial& trial, Trainer& trainer,
             std::vector<double>& precision);
  bool may_continue();
  void score_decision(const Config& config, const Rung& rung, const TrainedNetwork& trained,
                      std::vector<float>& scores) const;
  void score_mixes(TrialRun& run, Rung& rung, Trainer&& trainer);
  bool prune_if_behind(const TrialRun& run, Trial& trial, std::size_t rung) const;
  void finish(TrialRun& run, Trial& trial) const;

  const TuneOptions& options_;
  Cluster* cluster_;
  std::vector<Rung> rungs_;
  std::string validation_by_;
  std::optional<TrialDecision> decision_;
  std::size_t first_fold_ = 0;  // the first fold among the rungs: 1 after a short rung, which only prunes
  std::chrono::steady_clock::time_point began_;
  bool ended_ = false;
};

}  // namespace slide

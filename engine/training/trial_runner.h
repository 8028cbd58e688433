// Trains and scores the trials of a search, rung by rung: each rung is a data set to train on and samples to
// score on. A trial that is behind the one it changes is dropped after the rung that shows it, so that most
// trials are short.
//
// For one thread, which may have a team (engine/base/parallel.h). `options` must outlive it.
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

// What a prediction takes from neighbours; it has no part in training.
struct Votes {
  double share = 0.0;
  double power = 0.0;
  double cooccurrence = 0.0;
  bool operator==(const Votes&) const = default;
};

// A trial on its way.
struct TrialRun {
  Config config;
  // What it is raced against, on the same rungs; nullptr: it is not dropped.
  const Trial* rival = nullptr;
  // To be scored too, without training anew; those that there was no time for go.
  std::vector<Votes> votes;
  // Of each of `votes`, P@k as Trial::precision and scores as Trial::decision, when the trial is through.
  std::vector<std::vector<double>> precision;
  std::vector<std::vector<float>> decision;
};

class TrialRunner {
 public:
  // Throws InputError when the data are too few to split.
  TrialRunner(const Config& start, const Dataset& data, const TuneOptions& options);

  std::size_t folds() const { return rungs_.size() - first_; }
  std::size_t train_samples() const { return rungs_.back().data.train.samples(); }
  std::size_t validation_samples() const;
  const std::string& validation_by() const { return validation_by_; }
  const TrialDecision& decision() const { return *decision_; }

  // Fills in what `trial` came to. False when the time is up before its end. Throws InputError where memory
  // would not do for the first one, and Error where training does.
  bool run(TrialRun& run, Trial& trial);
  bool ended() const { return ended_; }  // by TuneOptions::go_on
  double seconds() const;                // since the search began

  // What the first process knows, whose clock counts.
  template <class T>
  T first_says(T value) const {
    if (cluster_ != nullptr) cluster_->broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
    return value;
  }

 private:
  struct Rung {
    TrialSplit data;
    double share = 1.0;  // of all samples, that it trains on
    // As the trial before had them, the feature weights learnt from them, and its keys that they follow from.
    std::optional<TrainingRows> rows = {};
    std::shared_ptr<const LearntWeights> learnt = nullptr;
    std::uint32_t crosses = 0;
    double idf_power = 0.0;
  };
  const TrainingRows& rows_for(const Config& config, Rung& rung) const;
  bool has_memory(const Config& config, const TrainingRows& rows, Trial& trial) const;
  bool train(const TrialRun& run, std::size_t rung, Trial& trial, Trainer& trainer,
             std::vector<double>& precision);
  bool goes_on();
  void score_decision(const Config& config, const Rung& rung, const TrainedNetwork& trained,
                      std::vector<float>& scores) const;
  void score_votes(TrialRun& run, Rung& rung, Trainer&& trainer);
  bool is_behind(const TrialRun& run, Trial& trial, std::size_t rung) const;
  void finish(TrialRun& run, Trial& trial) const;

  const TuneOptions& options_;
  Cluster* cluster_;
  std::vector<Rung> rungs_;
  std::string validation_by_;
  std::optional<TrialDecision> decision_;
  std::size_t first_ = 0;  // rung that counts for the score; those before it only tell who is behind
  std::chrono::steady_clock::time_point began_;
  bool ended_ = false;
};

}  // namespace slide

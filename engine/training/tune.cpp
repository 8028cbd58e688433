#include "engine/training/tune.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "datasets/split.h"
#include "engine/base/error.h"
#include "engine/base/phases.h"
#include "engine/base/rng.h"
#include "engine/training/search_space.h"
#include "engine/training/trainer.h"

namespace slide {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kValidationShare = 0.15;
constexpr std::size_t kMostValidation = 10000;
constexpr std::size_t kEnoughValidation =
    5000;  // scores of fewer samples are too much chance: they get more folds
constexpr std::size_t kMostFolds = 5;
constexpr std::uint32_t kMostDraws = 3000;  // for a trial that is new and valid

class Search {
 public:
  Search(const Config& start, const Dataset& data, const TuneOptions& options)
      : options_(options),
        start_(start),
        text_(to_toml(start)),
        seed_(start.train.seed),
        cluster_(options.cluster != nullptr && options.cluster->size() > 1 ? options.cluster : nullptr),
        space_(start, options.fixed),
        moves_(space_.sweep()),
        began_(Clock::now()) {
    if (options.validation) folds_.push_back({data, *options.validation});
    std::size_t validated = options.validation ? kEnoughValidation : 0;
    while (validated < kEnoughValidation && folds_.size() < kMostFolds) {
      folds_.push_back(split_dataset(data, kValidationShare, kMostValidation, seed_, folds_.size()));
      validated += folds_.back().validation.size();
    }
  }

  TuneResult run(const std::function<void(const Trial&)>& observe) {
    TuneResult result;
    result.train_samples = folds_.front().train.size();
    result.folds = folds_.size();
    for (const Split& fold : folds_) result.validation_samples += fold.validation.size();
    while (result.trials < options_.trials && first_says(seconds_since(began_) < options_.seconds)) {
      Trial trial;
      trial.number = result.trials + 1;
      trial.from = base_.number;
      if (trial.number > 1 && !sweep(trial) && !draw(trial)) break;
      if (!train(trial)) break;
      trial.ended = first_says(seconds_since(began_));
      ++result.trials;
      take(trial);
      if (observe) observe(trial);
    }
    check(result.trials);
    result.best = base_;
    result.start = start_;
    result.config = config_of(base_.changes);
    return result;
  }

 private:
  Config config_of(const std::vector<std::string>& changes) const {
    return parse_config(text_, "the configuration being tuned", changes);
  }

  // Whether `base` with the changes is a valid configuration, in which each has an effect, that was not tried
  // before.
  bool set_changes(std::vector<std::string> base, const std::vector<std::string>& changes, Trial& trial) {
    for (const std::string& change : changes) base = with_change(std::move(base), change, start_);
    trial.changes = std::move(base);
    try {
      const Config config = config_of(trial.changes);
      for (const std::string& change : changes) {
        if (!space_.has_effect(config, change)) return false;
      }
      return tried_.insert(to_toml(config)).second;
    } catch (const InputError&) {  // keys that do not go together
      return false;
    }
  }

  // What the first process knows, whose clock counts.
  template <class T>
  T first_says(T value) const {
    if (cluster_ != nullptr) cluster_->broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
    return value;
  }

  // Fills in the next single change; false at the end of the sweep.
  bool sweep(Trial& trial) {
    trial.stage = TrialStage::kSweep;
    for (; at_ < moves_.size(); ++at_) {
      const Move move = moves_[at_];
      if (went_.contains({move.key, !move.up})) continue;
      const std::optional<std::string> change = space_.step(config_of(base_.changes), move);
      if (change && set_changes(base_.changes, {*change}, trial)) return true;
    }
    return false;
  }

  // Fills in the best so far with random values of one or two keys; false when nothing new is found.
  bool draw(Trial& trial) {
    trial.stage = TrialStage::kRandom;
    Rng rng(seed_, Purpose::kTune, trial.number);
    for (std::uint32_t i = 0; i < kMostDraws; ++i) {
      std::vector<std::string> changes(1 + rng.below(2));
      for (std::string& change : changes) {
        const SearchKey& key = space_.keys()[rng.below(static_cast<std::uint32_t>(space_.keys().size()))];
        change = key.key + "=" + key.values[rng.below(static_cast<std::uint32_t>(key.values.size()))];
      }
      if (set_changes(base_.changes, changes, trial)) return true;
    }
    return false;
  }

  // Whether the search goes on from this trial: the better one, or while none is within the time, the shorter
  // one.
  bool is_better(const Trial& trial) const {
    if (trial.number == 1) return true;
    if (base_.within) return trial.within && trial.score > base_.score;
    return !trial.diverged && trial.full_seconds < base_.full_seconds;
  }

  // Notes what a trial has shown.
  void take(Trial& trial) {
    const bool better = is_better(trial), same = trial.score == base_.score, was_within = base_.within;
    trial.is_best = better && trial.within;
    if (better) base_ = trial;
    if (trial.number == 1 && !trial.within) {
      moves_ = space_.savings();
      const auto others = space_.sweep();
      moves_.insert(moves_.end(), others.begin(), others.end());
    } else if (trial.number > 1 && at_ < moves_.size()) {
      if (better || same) went_.insert({moves_[at_].key, moves_[at_].up});
      if (!better) ++at_;
    }
    if (trial.is_best && !was_within) {  // short enough at last
      moves_ = space_.sweep();
      at_ = 0;
      went_.clear();
    }
  }

  void check(std::uint32_t trials) const {
    if (trials == 0 && ended_) fail_input("the search was ended before its first trial was done");
    if (trials == 0) {
      fail_input("{:.1f} minutes were too short for a single training run; give more, or fewer train.epochs",
                 options_.seconds / 60.0);
    }
    if (base_.within) return;
    fail_input(
        "none of {} trials would train on all the data within {} s, the shortest in about {:.3g} s; give "
        "more "
        "--train-seconds, or a smaller layer.0.size",
        trials, options_.train_seconds, base_.full_seconds);
  }

  // False when the time is up before the end.
  bool train(Trial& trial) {
    const Config config = config_of(trial.changes);
    tried_.insert(to_toml(config));
    try {
      for (const Split& fold : folds_) {
        if (!train_fold(config, fold, trial)) return false;
        if (!trial.within) break;
      }
    } catch (const Error&) {
      if (trial.number == 1) throw;
      trial.diverged = true;
    }
    if (!trial.within || trial.diverged) {
      trial.precision.clear();
    } else {
      for (double& precision : trial.precision) precision /= double(folds_.size());
      for (const double precision : trial.precision)
        trial.score += precision / double(trial.precision.size());
    }
    return true;
  }

  // Adds the score on one fold's validation part to the trial's. False when the time is up before the end.
  bool train_fold(Config config, const Split& fold, Trial& trial) {
    config.train.eval_every = 0;
    const auto began = Clock::now();
    const double before = trial.train_seconds;
    Trainer trainer(config, fold.train, &fold.validation, 0, nullptr, cluster_);
    const double held_out = options_.validation ? 0.0 : double(fold.validation.size());
    const double share = double(trainer.labelled()) / (double(trainer.labelled()) + held_out);
    const auto estimate = [&](double seconds, double done) {
      trial.train_seconds = before + seconds;
      trial.full_seconds = std::max(trial.full_seconds, seconds / share / done);
      trial.within = trial.full_seconds <= options_.train_seconds;
    };
    TrainObserver observer;
    observer.step = [&](const StepReport& report) {
      if (options_.go_on && !options_.go_on()) ended_ = true;
      if (ended_) return false;
      if (report.step == report.total_steps || (cluster_ != nullptr && cluster_->rank() != 0)) return true;
      const double seconds = seconds_since(began);
      trial.stopped = seconds / share > options_.train_seconds;
      if (trial.stopped) estimate(seconds, double(report.step) / double(report.total_steps));
      return !trial.stopped && seconds_since(began_) <= options_.seconds;
    };
    observer.epoch = [&](const EpochReport& report) {
      if (report.epoch == config.train.epochs) estimate(report.train_seconds, 1.0);
    };
    observer.eval = [&](const EvalReport& report) {
      trial.precision.resize(config.eval.k.size());
      for (std::size_t i = 0; i < trial.precision.size(); ++i)
        trial.precision[i] += report.metrics.precision(config.eval.k[i]);
    };
    const bool done = trainer.run(observer);
    trial.train_seconds = first_says(trial.train_seconds);
    trial.full_seconds = first_says(trial.full_seconds);
    trial.within = first_says(trial.within);
    trial.stopped = first_says(trial.stopped);
    return done || trial.stopped;
  }

  const TuneOptions& options_;
  const Config& start_;
  std::string text_;
  std::uint64_t seed_;
  Cluster* cluster_;
  SearchSpace space_;
  std::vector<Move> moves_;  // of the sweep
  std::size_t at_ = 0;       // of moves_
  // Keys and directions that helped, or did nothing at all: the other direction is not tried.
  std::set<std::pair<std::size_t, bool>> went_;
  Trial base_;  // what the next trial changes: the best so far
  std::vector<Split> folds_;
  Clock::time_point began_;
  std::set<std::string> tried_;
  bool ended_ = false;  // by TuneOptions::go_on
};

}  // namespace

TuneResult tune(const Config& start, const Dataset& data, const TuneOptions& options,
                const std::function<void(const Trial&)>& trial) {
  if (!start.train.vectors.empty()) {
    fail_input(
        "train.vectors is set, but a search starts from random weights; set it to train what was found");
  }
  return Search(start, data, options).run(trial);
}

}  // namespace slide

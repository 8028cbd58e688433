#include "engine/training/trial_runner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "datasets/rows/split.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/phases.h"
#include "engine/crosses/feature_transform.h"
#include "engine/inference/inference.h"
#include "engine/inference/shared_predictor.h"
#include "engine/training/trainer.h"

namespace slide {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargeTraining = 8000;  // training samples of a fold from which there is a short rung:
constexpr std::size_t kShortPart = 4;         // it trains on one sample in so many,
constexpr std::size_t kMaxShortValidation = 5000;  // and is scored on at most so many
constexpr std::size_t kMixSamples = 2500;          // that choose among many mixes
// A trial is pruned where its mean score is more than kMaxBehind standard errors below the mean score of its
// baseline. kSpread: standard deviation, over samples, of the difference of two similar configurations.
constexpr double kSpread = 0.1, kMaxBehind = 0.5;

// Every `one_in`-th sample, and all label texts.
Dataset thinned(const Dataset& data, std::size_t one_in) {
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < data.samples(); i += one_in) kept.push_back(static_cast<std::uint32_t>(i));
  for (std::size_t i = data.samples(); i < data.size(); ++i) kept.push_back(static_cast<std::uint32_t>(i));
  return copy_rows(data, kept);
}

// The `one_in` of thinned() that leaves at most `limit` samples.
std::size_t one_in_for(const Dataset& data, std::size_t limit) {
  return std::max<std::size_t>(1, (data.samples() + limit - 1) / limit);
}

std::vector<double> precision_of(const Metrics& metrics, const std::vector<std::uint32_t>& ks) {
  std::vector<double> precision;
  for (const std::uint32_t k : ks) precision.push_back(metrics.precision(k));
  return precision;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(std::max<std::size_t>(values.size(), 1));
}

// Adds `more` element by element to `sum`, which has the same size or is empty.
void add(std::vector<double>& sum, const std::vector<double>& more) {
  sum.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

int threads_of(const Config& config) {
  return resolve_threads(static_cast<int>(config.train.threads));
}

InferenceOptions inference_of(const Config& config) {
  InferenceOptions options;
  options.mode = config.eval.inference;
  options.candidates = config.eval.candidates;
  options.threads = threads_of(config);
  options.k = *std::ranges::max_element(config.eval.k);
  return options;
}

// Appends the score of each sample, the mean of P@k over `ks`.
void append_scores(const Ranking& ranking, const Dataset& truth, const std::vector<std::uint32_t>& ks,
                   std::vector<float>& scores) {
  const Metrics empty(ks);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    Metrics one = empty;
    one.add(ranking[i], truth.labels(i));
    scores.push_back(static_cast<float>(mean(precision_of(one, ks))));
  }
}

// Ends training; fits the kNN prediction where the configuration of the trial has none.
TrainedModel mixable_model(const Config& config, const Dataset& train,
                           const std::shared_ptr<const LearntWeights>& learnt, Trainer&& trainer) {
  TrainedModel model = std::move(trainer).release();
  if (!model.neighbours) {
    model.neighbours = std::move(
        fit_neighbours(config.neighbours, train, scale_of(model.network), learnt, threads_of(config))
            .neighbours);
  }
  return model;
}

// Scores a trained model with one KnnMix after the other.
class MixScorer {
 public:
  MixScorer(TrainedModel model, const Config& config)
      : model_(std::move(model)), options_(inference_of(config)), ks_(config.eval.k) {}
  MixScorer(const MixScorer&) = delete;
  MixScorer& operator=(const MixScorer&) = delete;

  // P@k on `data`, for each of eval.k.
  std::vector<double> precision(const KnnMix& mix, const Dataset& data) {
    model_.neighbours->set_mix(mix.share, mix.power, mix.cooccurrence);
    make_predictor(mix);
    return precision_of(evaluate(*predictor_, data, ks_, nullptr), ks_);
  }

  // Appends the score of each sample of `data`, with the mix of the last precision().
  void append_scores(const Dataset& data, std::vector<float>& scores) const {
    if (data.samples() > 0) slide::append_scores(ranked(*predictor_, data), data, ks_, scores);
  }

 private:
  // A Predictor depends on whether there are kNN votes and co-occurrence, not on how much they count.
  void make_predictor(const KnnMix& mix) {
    const bool votes = mix.share > 0, cooccurrence = votes && mix.cooccurrence > 0;
    if (!predictor_ || votes != votes_ || cooccurrence != cooccurrence_)
      predictor_.emplace(TrainedNetwork{model_.network, votes ? &*model_.neighbours : nullptr}, options_);
    votes_ = votes;
    cooccurrence_ = cooccurrence;
  }

  TrainedModel model_;
  InferenceOptions options_;
  const std::vector<std::uint32_t>& ks_;
  std::optional<Predictor> predictor_;
  bool votes_ = false, cooccurrence_ = false;  // what predictor_ uses
};

}  // namespace

TrialRunner::TrialRunner(const Config& start, const Dataset& data, const TuneOptions& options)
    : options_(options),
      cluster_(options.cluster != nullptr && options.cluster->size() > 1 ? options.cluster : nullptr),
      began_(Clock::now()) {
  TrialSplits splits = trial_splits(start, data, options.validation, threads_of(start));
  validation_by_ = std::move(splits.chosen_by);
  if (options.note && !splits.note.empty()) options.note(splits.note);
  decision_.emplace(splits.folds);
  const auto share = [&](const Dataset& part) { return double(part.samples()) / double(data.samples()); };
  if (splits.folds.size() == 1 && splits.folds.front().train.samples() >= kLargeTraining) {
    const TrialSplit& all = splits.folds.front();
    TrialSplit part{thinned(all.train, kShortPart),
                    thinned(all.validation, one_in_for(all.validation, kMaxShortValidation)),
                    {}};
    const double of_all = share(part.train);
    rungs_.push_back({std::move(part), of_all});
    first_fold_ = 1;
  }
  for (TrialSplit& fold : splits.folds) {
    const double of_all = share(fold.train);
    rungs_.push_back({std::move(fold), of_all});
  }
}

std::size_t TrialRunner::validation_samples() const {
  std::size_t samples = 0;
  for (std::size_t r = first_fold_; r < rungs_.size(); ++r) samples += rungs_[r].data.validation.size();
  return samples;
}

double TrialRunner::seconds() const {
  return seconds_since(began_);
}

// For each rung in order: train, score, stop where the trial is behind its baseline. Only folds (rungs from
// first_fold_ on) count for P@k, the decision and the mixes.
bool TrialRunner::run(TrialRun& run, Trial& trial) {
  run.precision.assign(run.mixes.size(), {});
  run.decision.assign(run.mixes.size(), {});
  for (std::size_t r = 0; r < rungs_.size(); ++r) {
    Rung& rung = rungs_[r];
    const TrainingRows& rows = rows_for(run.config, rung);
    if (!has_memory(run.config, rows, trial)) break;
    Trainer trainer({run.config,
                     rows,
                     FreshStart{rung.learnt},
                     threads_of(run.config),
                     {&rung.data.validation, nullptr},
                     cluster_});
    if (trainer.learnt_weights() != nullptr) rung.learnt = trainer.learnt_weights();
    std::vector<double> precision;
    if (!train(run, r, trial, trainer, precision)) return false;
    if (!trial.within) break;
    trial.rungs.push_back(mean(precision));
    if (prune_if_behind(run, trial, r)) break;
    if (r < first_fold_) continue;
    add(trial.precision, precision);
    score_decision(run.config, rung, trainer.trained(), trial.decision);
    if (!run.mixes.empty()) score_mixes(run, rungs_[r], std::move(trainer));
  }
  finish(run, trial);
  return true;
}

// Returns false where memory does not suffice; throws InputError for trial 1.
bool TrialRunner::has_memory(const Config& config, const TrainingRows& rows, Trial& trial) const {
  if (!options_.require_memory) return true;
  try {
    options_.require_memory(config, rows);
  } catch (const InputError&) {
    if (trial.number == 1) throw;
    trial.too_large = true;
  }
  return !trial.too_large;
}

// The training rows of a rung for `config`: reuses the rows (and learnt feature weights) of the last trial
// where data.crosses (and data.idf_power) are equal.
const TrainingRows& TrialRunner::rows_for(const Config& config, Rung& rung) const {
  if (!rung.rows || rung.crosses != config.data.crosses) {
    rung.rows.reset();  // frees memory first
    rung.rows.emplace(config, rung.data.train, threads_of(config));
    rung.learnt = nullptr;
    rung.crosses = config.data.crosses;
  }
  if (rung.idf_power != config.data.idf_power) {
    rung.learnt = nullptr;
    rung.idf_power = config.data.idf_power;
  }
  return *rung.rows;
}

// Trains and scores a trial on one rung: sets `precision`, and the times of the trial, with which it can be
// stopped as too slow. Clocks of processes differ: the first one's values count. Returns false where the
// search ends first.
bool TrialRunner::train(const TrialRun& run, std::size_t rung, Trial& trial, Trainer& trainer,
                        std::vector<double>& precision) {
  const auto began = Clock::now();
  const double before = trial.train_seconds, share = rungs_[rung].share;
  // The short rung overestimates the time of all the data, for set-up is a larger part of it: it is too slow
  // only where it alone exceeds the limit.
  const bool is_fold = rung >= first_fold_;
  const auto estimate = [&](double seconds, double done) {
    trial.train_seconds = before + seconds;
    trial.full_seconds =
        rung <= first_fold_ ? seconds / share / done : std::max(trial.full_seconds, seconds / share / done);
    trial.within = (is_fold ? trial.full_seconds : seconds) <= options_.train_seconds;
  };
  TrainObserver observer;
  observer.step = [&](const StepReport& report) {
    if (options_.go_on && !options_.go_on()) ended_ = true;
    if (ended_) return false;
    if (report.step == report.total_steps || (cluster_ != nullptr && cluster_->rank() != 0)) return true;
    const double seconds = seconds_since(began);
    trial.stopped = (is_fold ? seconds / share : seconds) > options_.train_seconds;
    if (trial.stopped) estimate(seconds, double(report.step) / double(report.total_steps));
    return !trial.stopped && seconds_since(began_) <= options_.seconds;
  };
  observer.epoch = [&](const EpochReport& report) {
    if (report.epoch == run.config.train.epochs) estimate(report.train_seconds, 1.0);
  };
  observer.eval = [&](const EvalReport& report) {
    precision = precision_of(report.metrics, run.config.eval.k);
  };
  const bool done = trainer.run(observer);
  trial.train_seconds = of_first(trial.train_seconds);
  trial.full_seconds = of_first(trial.full_seconds);
  trial.within = of_first(trial.within);
  trial.stopped = of_first(trial.stopped);
  return done || trial.stopped;
}

// Sets the gain over the baseline on the rungs so far, and whether the trial is pruned, which it returns.
bool TrialRunner::prune_if_behind(const TrialRun& run, Trial& trial, std::size_t rung) const {
  if (run.baseline == nullptr || run.baseline->rungs.size() <= rung) return false;
  // The short rung is compared alone, and does not count for the folds.
  const std::size_t first = rung < first_fold_ ? 0 : first_fold_;
  double samples = 0.0, gain = 0.0;
  for (std::size_t r = first; r <= rung; ++r) {
    samples += double(rungs_[r].data.validation.size());
    gain += (trial.rungs[r] - run.baseline->rungs[r]) / double(rung + 1 - first);
  }
  trial.gain = gain;
  const bool is_last = rung + 1 == rungs_.size();
  const double standard_error = kSpread / std::sqrt(samples);
  trial.pruned = !is_last && gain < -kMaxBehind * standard_error;
  return trial.pruned;
}

// Whether there is time left, and go_on() does not end the search.
bool TrialRunner::may_continue() {
  if (options_.go_on && !options_.go_on()) ended_ = true;
  return of_first(!ended_ && seconds() <= options_.seconds);
}

// Appends the score of each decision sample of a rung.
void TrialRunner::score_decision(const Config& config, const Rung& rung, const TrainedNetwork& trained,
                                 std::vector<float>& scores) const {
  const Dataset& decision = rung.data.decision;
  if (decision.samples() == 0) return;
  const InferenceOptions options = inference_of(config);
  append_scores(cluster_ != nullptr ? ranked_shared(*cluster_, trained, decision, options)
                                    : ranked(Predictor(trained, options), decision),
                decision, config.eval.k, scores);
}

// Few samples choose among many mixes: with one fold, all mixes are scored on about kMixSamples of the
// validation samples, and only the best of them on all.
void TrialRunner::score_mixes(TrialRun& run, Rung& rung, Trainer&& trainer) {
  const Dataset& all = rung.data.validation;
  const std::size_t one_in = folds() == 1 ? one_in_for(all, kMixSamples) : 1;
  const Dataset some = one_in == 1 ? all : thinned(all, one_in);
  MixScorer scorer(mixable_model(run.config, rung.data.train, rung.learnt, std::move(trainer)), run.config);
  const auto keep_first = [&](std::size_t mixes) {
    run.mixes.resize(mixes);
    run.precision.resize(mixes);
    run.decision.resize(mixes);
  };
  const auto add_scores = [&](std::size_t m, const std::vector<double>& precision) {
    add(run.precision[m], precision);
    scorer.append_scores(rung.data.decision, run.decision[m]);
  };
  std::size_t best = 0;
  double highest = -1.0;
  for (std::size_t m = 0; m < run.mixes.size(); ++m) {
    if (!may_continue()) return keep_first(one_in == 1 ? m : 0);
    const std::vector<double> precision = scorer.precision(run.mixes[m], some);
    if (one_in == 1) add_scores(m, precision);
    if (mean(precision) > highest) best = m, highest = mean(precision);
  }
  if (one_in == 1) return;
  if (!may_continue()) return keep_first(0);
  add_scores(best, scorer.precision(run.mixes[best], all));
}

// Turns sums over the folds into means. A trial that is not scored keeps no results.
void TrialRunner::finish(TrialRun& run, Trial& trial) const {
  if (!trial.is_scored()) {
    trial.precision.clear();
    trial.decision.clear();
    for (std::vector<double>& precision : run.precision) precision.clear();
    return;
  }
  for (double& precision : trial.precision) precision /= double(folds());
  trial.score = mean(trial.precision);
  for (std::vector<double>& mix : run.precision) {
    for (double& precision : mix) precision /= double(folds());
  }
}

}  // namespace slide

#include "engine/training/trial_runner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
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

constexpr std::size_t kMaxShortValidation = 5000;  // samples that the first rung of a large set is scored on
constexpr std::size_t kLargeTraining = 8000;       // samples: a part of them tells already who is behind
constexpr std::size_t kShortPart = 4;              // one in so many
constexpr std::size_t kVoteSamples = 2500;         // on which many votes are tried
// How far behind is too far: so many standard deviations of a mean over the samples, of which one is about
// kSpread for the difference of two like configurations.
constexpr double kSpread = 0.1, kTooFar = 0.5;

// One in so many of the samples, in order, and all texts of labels.
Dataset thinned(const Dataset& data, std::size_t one_in) {
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < data.samples(); i += one_in) kept.push_back(static_cast<std::uint32_t>(i));
  for (std::size_t i = data.samples(); i < data.size(); ++i) kept.push_back(static_cast<std::uint32_t>(i));
  return copy_rows(data, kept);
}

std::size_t one_in_for(const Dataset& data, std::size_t most) {
  return std::max<std::size_t>(1, (data.samples() + most - 1) / most);
}

std::vector<double> precision_of(const Metrics& metrics, const std::vector<std::uint32_t>& ks) {
  std::vector<double> precision;
  for (const std::uint32_t k : ks) precision.push_back(metrics.precision(k));
  return precision;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(std::max<std::size_t>(values.size(), 1));
}

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
  const Metrics none(ks);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    Metrics one = none;
    one.add(ranking[i], truth.labels(i));
    scores.push_back(static_cast<float>(mean(precision_of(one, ks))));
  }
}

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
    const double of = share(part.train);
    rungs_.push_back({std::move(part), of});
    first_ = 1;
  }
  for (TrialSplit& fold : splits.folds) {
    const double of = share(fold.train);
    rungs_.push_back({std::move(fold), of});
  }
}

std::size_t TrialRunner::validation_samples() const {
  std::size_t samples = 0;
  for (std::size_t r = first_; r < rungs_.size(); ++r) samples += rungs_[r].data.validation.size();
  return samples;
}

double TrialRunner::seconds() const {
  return seconds_since(began_);
}

bool TrialRunner::run(TrialRun& run, Trial& trial) {
  run.precision.assign(run.votes.size(), {});
  run.decision.assign(run.votes.size(), {});
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
    if (is_behind(run, trial, r)) break;
    if (r < first_) continue;
    add(trial.precision, precision);
    score_decision(run.config, rung, trainer.trained(), trial.decision);
    if (!run.votes.empty()) score_votes(run, rungs_[r], std::move(trainer));
  }
  finish(run, trial);
  return true;
}

// False where memory would not do; of the first trial that is an InputError.
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

// What trials find out about the rows of a rung is kept for the next: most change other keys.
const TrainingRows& TrialRunner::rows_for(const Config& config, Rung& rung) const {
  if (!rung.rows || rung.crosses != config.data.crosses) {
    rung.rows.reset();  // before there are others
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

// False when the time is up before the end.
bool TrialRunner::train(const TrialRun& run, std::size_t rung, Trial& trial, Trainer& trainer,
                        std::vector<double>& precision) {
  const auto began = Clock::now();
  const double before = trial.train_seconds, share = rungs_[rung].share;
  // A part of a large set is too small to tell how long all of it takes, for setting up counts as often: it
  // is only too slow where it alone takes too long.
  const bool tells = rung >= first_;
  const auto estimate = [&](double seconds, double done) {
    trial.train_seconds = before + seconds;
    trial.full_seconds =
        rung <= first_ ? seconds / share / done : std::max(trial.full_seconds, seconds / share / done);
    trial.within = (tells ? trial.full_seconds : seconds) <= options_.train_seconds;
  };
  TrainObserver observer;
  observer.step = [&](const StepReport& report) {
    if (options_.go_on && !options_.go_on()) ended_ = true;
    if (ended_) return false;
    if (report.step == report.total_steps || (cluster_ != nullptr && cluster_->rank() != 0)) return true;
    const double seconds = seconds_since(began);
    trial.stopped = (tells ? seconds / share : seconds) > options_.train_seconds;
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
  trial.train_seconds = first_says(trial.train_seconds);
  trial.full_seconds = first_says(trial.full_seconds);
  trial.within = first_says(trial.within);
  trial.stopped = first_says(trial.stopped);
  return done || trial.stopped;
}

// Notes how far the trial is ahead of its rival so far.
bool TrialRunner::is_behind(const TrialRun& run, Trial& trial, std::size_t rung) const {
  if (run.rival == nullptr || run.rival->rungs.size() <= rung) return false;
  // Rungs that only tell who is behind stand for themselves.
  const std::size_t from = rung < first_ ? 0 : first_;
  double samples = 0.0, gain = 0.0;
  for (std::size_t r = from; r <= rung; ++r) {
    samples += double(rungs_[r].data.validation.size());
    gain += (trial.rungs[r] - run.rival->rungs[r]) / double(rung + 1 - from);
  }
  trial.gain = gain;
  trial.dropped = rung + 1 < rungs_.size() && gain < -kTooFar * kSpread / std::sqrt(samples);
  return trial.dropped;
}

// Whether there is time for more, and nobody ends the search.
bool TrialRunner::goes_on() {
  if (options_.go_on && !options_.go_on()) ended_ = true;
  return first_says(!ended_ && seconds() <= options_.seconds);
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

void TrialRunner::score_votes(TrialRun& run, Rung& rung, Trainer&& trainer) {
  const InferenceOptions options = inference_of(run.config);
  const std::vector<std::uint32_t>& ks = run.config.eval.k;
  TrainedModel model = std::move(trainer).release();
  if (!model.neighbours) {
    model.neighbours = std::move(fit_neighbours(run.config.neighbours, rung.data.train,
                                                scale_of(model.network), rung.learnt, options.threads)
                                     .neighbours);
  }
  // Kept from votes to votes, but where there are others to ask.
  std::optional<Predictor> predictor;
  bool asks_voters = false, uses_cooccurrence = false;
  const auto score = [&](const Votes& votes, const Dataset& data) {
    model.neighbours->set_votes(votes.share, votes.power, votes.cooccurrence);
    const bool voted = votes.share > 0, lent = voted && votes.cooccurrence > 0;
    if (!predictor || voted != asks_voters || lent != uses_cooccurrence)
      predictor.emplace(TrainedNetwork{model.network, voted ? &*model.neighbours : nullptr}, options);
    asks_voters = voted;
    uses_cooccurrence = lent;
    return precision_of(evaluate(*predictor, data, ks, nullptr), ks);
  };
  const auto decide = [&](std::size_t v) {
    const Dataset& decision = rung.data.decision;
    if (decision.samples() > 0) append_scores(ranked(*predictor, decision), decision, ks, run.decision[v]);
  };
  const auto keep = [&](std::size_t votes) {
    run.votes.resize(votes);
    run.precision.resize(votes);
    run.decision.resize(votes);
  };
  const Dataset& all = rung.data.validation;
  const std::size_t one_in = folds() == 1 ? one_in_for(all, kVoteSamples) : 1;
  const Dataset some = one_in == 1 ? all : thinned(all, one_in);
  std::size_t best = 0;
  double highest = -1.0;
  for (std::size_t v = 0; v < run.votes.size(); ++v) {
    if (!goes_on()) return keep(one_in == 1 ? v : 0);
    const std::vector<double> precision = score(run.votes[v], some);
    if (one_in == 1) add(run.precision[v], precision), decide(v);
    if (mean(precision) > highest) best = v, highest = mean(precision);
  }
  if (one_in == 1) return;
  if (!goes_on()) return keep(0);
  add(run.precision[best], score(run.votes[best], all));  // the others stay without
  decide(best);
}

void TrialRunner::finish(TrialRun& run, Trial& trial) const {
  if (!trial.is_scored()) {
    trial.precision.clear();
    trial.decision.clear();
    for (std::vector<double>& precision : run.precision) precision.clear();
    return;
  }
  for (double& precision : trial.precision) precision /= double(folds());
  trial.score = mean(trial.precision);
  for (std::vector<double>& votes : run.precision) {
    for (double& precision : votes) precision /= double(folds());
  }
}

}  // namespace slide

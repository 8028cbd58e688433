#include "engine/training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "datasets/data_parts.h"
#include "datasets/label_weights.h"
#include "datasets/shuffle.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/features/feature_weight_learning.h"
#include "engine/inference/shared_predictor.h"

namespace slide {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::uint32_t> labelled_samples(const Dataset& data, const DataConfig& config) {
  const bool users = config.kind == DataKind::kInteractions;
  std::vector<std::uint32_t> samples;
  if (users) samples = users_to_draw(data);
  for (std::size_t i = 0; !users && i < data.size(); ++i) {
    if (!data.weights().empty() && data.weights()[i] == 0) continue;  // a text of a label that does not count
    if (!data.labels(i).empty()) samples.push_back(static_cast<std::uint32_t>(i));
  }
  if (samples.empty() && users)
    fail_input("{}: no user has an item that counts; give a larger log", shown_path(config.train));
  if (samples.empty()) {
    fail_input(
        "{}: no training sample has a label; give data with labels, which stand first in a line of text",
        shown_path(config.train));
  }
  return samples;
}

// What labels count in training: those of a file, which come with the data, or those by their frequencies.
std::vector<float> label_weights_of(const Config& config, const Dataset& train, const DataShape& shape) {
  const double power = config.data.label_weights.power;
  if (power == 0) return {train.label_weights().begin(), train.label_weights().end()};
  return power_weights(shape.label_frequencies, train.label_frequencies(), power);
}

// Least share of the learning rate where training goes on behind the end of the schedule's fall.
constexpr double kMinRate = 0.05;

// Epochs over which the schedule lets the rate fall. With train.patience, `epochs` is only a bound: a fall
// over so many would keep the rate high until the patience is at its end, and what a high rate learns last is
// noise. So it falls over twice the patience, but no faster than in a run of default length.
std::uint32_t epochs_of_fall(const TrainConfig& train) {
  if (train.patience == 0 || train.eval_every == 0) return train.epochs;
  const std::uint64_t patient = 2 * std::uint64_t{train.patience} * train.eval_every;
  const auto epochs = std::max<std::uint64_t>(patient, TrainConfig{}.epochs);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(epochs, train.epochs));
}

int threads_of(const Config& config) {
  return resolve_threads(static_cast<int>(config.train.threads));
}

DataShape shape_of(const TrainingRows& rows) {
  DataShape shape = slide::shape_of(rows.raw);
  shape.crosses = rows.crosses.size();
  return shape;
}

int ranks_of(const Cluster* cluster) {
  return cluster == nullptr ? 1 : cluster->size();
}

}  // namespace

Trainer::Trainer(const Config& config, const Dataset& train, const Dataset* test, std::size_t step_samples,
                 const Dataset* validation, Cluster* cluster)
    : Trainer(config, TrainingRows(config, train, threads_of(config)), test, step_samples, validation,
              cluster) {}

Trainer::Trainer(const Config& config, TrainingRows train, const Dataset* test, std::size_t step_samples,
                 const Dataset* validation, Cluster* cluster)
    : Trainer(config, std::move(train), test, step_samples, validation, cluster, nullptr) {}

Trainer::Trainer(const Config& config, const Dataset& train, TrainedStart start, const Dataset* test,
                 std::size_t step_samples, const Dataset* validation)
    : Trainer(config, TrainingRows(start.network.feature_crosses(), train, threads_of(config)),
              std::move(start), test, step_samples, validation) {}

Trainer::Trainer(const Config& config, TrainingRows train, TrainedStart start, const Dataset* test,
                 std::size_t step_samples, const Dataset* validation)
    : Trainer(config, std::move(train), test, step_samples, validation, nullptr, &start) {}

Trainer::Trainer(const Config& config, TrainingRows train, const Dataset* test, std::size_t step_samples,
                 const Dataset* validation, Cluster* cluster, TrainedStart* start)
    : config_(config),
      cluster_(cluster != nullptr && cluster->size() > 1 ? cluster : nullptr),
      rows_(std::move(train)),
      test_(test),
      validation_(validation),
      started_(Clock::now()),
      threads_(threads_of(config)),
      batch_(step_samples > 0 ? step_samples : step_shape(config.train, threads_).samples),
      shape_(start != nullptr ? std::move(start->shape) : shape_of(rows_)),
      labelled_(labelled_samples(rows_.raw, config.data)),
      order_(labelled_),
      label_weights_(label_weights_of(config, rows_.raw, shape_)),
      network_(start != nullptr ? std::move(start->network)
                                : Network::start(config, rows_, shape_, threads_, cluster_)),
      training_(network_, rows_.crossed, {batch_, step_shape(config.train, threads_).shards, threads_},
                cluster_),
      optimizer_(config.optimizer) {
  double seconds_before = rows_.seconds;
  texts_ = std::ranges::count_if(labelled_, [&](std::uint32_t i) { return i >= rows_.raw.samples(); });
  unlabelled_ = rows_.raw.samples() - (labelled_.size() - texts_);
  inverse_propensities_ = std::make_shared<const InversePropensities>(
      shape_.label_frequencies, shape_.samples, config.eval.propensity_a, config.eval.propensity_b);
  groups_ = std::make_shared<const LabelGroups>(shape_.label_frequencies);
  const std::uint64_t epoch_steps = (labelled_.size() + batch_ - 1) / batch_;
  total_steps_ = config.train.epochs * epoch_steps;
  fall_steps_ = epochs_of_fall(config.train) * epoch_steps;
  if (start != nullptr) {
    continue_from(*start);
  } else if (config.neighbours.share > 0) {
    seconds_before += choose_neighbours();
  }
  for (const Layer& layer : network_.layers()) {
    const HashConfig& hash = layer.config().hash;
    const bool from_nothing = start == nullptr && layer.config().init_scale == 0;
    rehash_.emplace_back(layer.index() != nullptr ? hash.rehash_steps : 0, hash.interval_growth,
                         from_nothing);
    rebuild_.emplace_back(layer.index() != nullptr ? hash.rebuild_steps : 0, hash.interval_growth);
  }
  train_seconds_ = phases_.setup = seconds_before + seconds_since(started_);
}

// Returns the seconds that it has taken before, where what features weigh is known already.
double Trainer::choose_neighbours() {
  neighbours_.emplace(config_.neighbours, rows_.raw, network_.feature_scale(), threads_);
  if (!neighbours_->learns()) return 0.0;
  if (rows_.feature_weights != nullptr) {
    neighbours_->set_feature_weights(*rows_.feature_weights, threads_);
    return rows_.learning_seconds;
  }
  const auto start = Clock::now();
  learn_feature_weights(*neighbours_, threads_);
  rows_.feature_weights =
      std::make_shared<const std::vector<std::uint16_t>>(neighbours_->storage().feature_weights);
  rows_.learning_seconds = seconds_since(start);
  return 0.0;
}

void Trainer::continue_from(TrainedStart& start) {
  neighbours_ = std::move(start.neighbours);
  steps_before_ = start.steps;
  if (start.optimizer) training_.set_optimizer_state(*std::move(start.optimizer));
  generation_ = network_.generation();
}

TrainedModel Trainer::release() && {
  return {std::move(network_), std::move(neighbours_), std::move(training_).optimizer_state()};
}

bool Trainer::run(const TrainObserver& observer) {
  bool finished = false;
  with_team(threads_, [&] { finished = run_epochs(observer); });
  return finished;
}

bool Trainer::run_epochs(const TrainObserver& observer) {
  while (progress_.epoch <= config_.train.epochs) {
    if (!run_epoch(observer)) return false;
    if (!finish_epoch(observer)) return true;
    const std::uint32_t next = progress_.epoch + 1;
    progress_ = Progress{};
    progress_.epoch = next;
  }
  return true;
}

bool Trainer::run_epoch(const TrainObserver& observer) {
  auto start = Clock::now();
  arrange_epoch(progress_.epoch);
  phases_.data += seconds_since(start);
  while (progress_.samples < order_.size()) {
    const std::size_t count = std::min<std::size_t>(batch_, order_.size() - progress_.samples);
    progress_.loss += step(progress_.samples, count);
    progress_.samples += count;
    const double seconds = seconds_since(start);
    progress_.seconds += seconds;
    train_seconds_ += seconds;
    if (!std::isfinite(progress_.loss)) {
      fail_run("the loss is no longer a number in epoch {}; lower optimizer.learning_rate (now {})",
               progress_.epoch, config_.optimizer.learning_rate);
    }
    if (!observe_step(observer)) return false;
    start = Clock::now();
  }
  return true;
}

bool Trainer::observe_step(const TrainObserver& observer) {
  const auto done = double(progress_.samples);
  const bool on = !observer.step || observer.step({progress_.epoch, step_, total_steps_, progress_.samples,
                                                   progress_.loss / done, progress_.active / done,
                                                   progress_.seconds, stop_agreed_});
  if (cluster_ == nullptr) return on;
  if (!on) training_.want_stop();
  return !stop_agreed_;
}

bool Trainer::finish_epoch(const TrainObserver& observer) {
  const auto samples = double(order_.size());
  const std::uint32_t epoch = progress_.epoch;
  if (observer.epoch) {
    const double active = progress_.active / samples;
    observer.epoch({epoch, step_, progress_.loss / samples, train_seconds_, phases_, active,
                    active / double(network_.labels()), sources_of_epoch(), table_health(),
                    samples / progress_.seconds, epoch * order_.size(), ranks_of(cluster_),
                    cluster_ != nullptr ? cluster_->traffic() : Cluster::Traffic{}});
  }
  report_tables(observer);
  const bool last = epoch == config_.train.epochs;
  const std::uint32_t every = config_.train.eval_every;
  if (!observer.eval || !(last || (every > 0 && epoch % every == 0))) return true;
  if (validation_ != nullptr) observer.eval(validate(observer));
  if (test_ != nullptr) observer.eval(evaluate_now(*test_, observer));
  return config_.train.patience == 0 || without_better_ < config_.train.patience;
}

EvalReport Trainer::validate(const TrainObserver& observer) {
  EvalReport report = evaluate_now(*validation_, observer);
  double score = 0.0;
  for (const std::uint32_t k : config_.eval.k) score += report.metrics.precision(k);
  score /= double(config_.eval.k.size());
  report.validation = true;
  report.best = score > best_score_;
  best_score_ = std::max(score, best_score_);
  without_better_ = report.best ? 0 : without_better_ + 1;
  return report;
}

void Trainer::save(ByteWriter& out) const {
  out.put(progress_.epoch);
  out.put(progress_.samples);
  for (const double value : {progress_.loss, progress_.active, progress_.seconds, train_seconds_})
    out.put(value);
  out.put(progress_.sources);
  out.put(phases_);
  out.put(step_);
  out.put(generation_);
  out.put(best_score_);
  out.put(without_better_);
  out.put_array(rehash_.data(), rehash_.size());
  out.put_array(rebuild_.data(), rebuild_.size());
  training_.save(network_, out);
}

// Schedules follow from the configuration and the steps done: others would be due again and again.
void Trainer::load_schedules(ByteReader& in, std::vector<IntervalSchedule>& schedules) const {
  std::vector<IntervalSchedule> stored = schedules;
  in.get_array(stored.data(), stored.size(), "another number of layers");
  for (IntervalSchedule& schedule : schedules) schedule.due(step_);
  if (stored != schedules) in.refuse("impossible times of the hash tables");
}

void Trainer::load(ByteReader& in) {
  progress_.epoch = in.get<std::uint32_t>();
  progress_.samples = in.get<std::uint64_t>();
  if (progress_.samples > labelled_.size()) in.refuse("more samples than the training data has");
  for (double* value : {&progress_.loss, &progress_.active, &progress_.seconds, &train_seconds_})
    *value = in.get<double>();
  progress_.sources = in.get<ActiveSources>();
  phases_ = in.get<PhaseSeconds>();
  step_ = in.get<std::uint64_t>();
  if (step_ > total_steps_) in.refuse("more steps than the run has");
  generation_ = in.get<std::uint64_t>();
  best_score_ = in.get<double>();
  without_better_ = in.get<std::uint32_t>();
  load_schedules(in, rehash_);
  load_schedules(in, rebuild_);
  training_.load(in, network_);
}

void Trainer::arrange_epoch(std::uint32_t epoch) {
  order_ = labelled_;
  if (!config_.train.shuffle) return;
  std::vector<std::uint32_t> permutation(labelled_.size());
  shuffle_order(permutation, config_.train.seed, epoch);
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = labelled_[permutation[i]];
}

ItemDraw Trainer::draw() const {
  return {config_.data.mask, config_.data.normalize, config_.train.seed + steps_before_, progress_.epoch};
}

void Trainer::fill_block(std::size_t first, std::size_t count, Block& block) const {
  block.clear_samples();
  const bool users = config_.data.kind == DataKind::kInteractions;
  for (std::size_t i = first; i < first + count; ++i) {
    if (users) {
      const DrawnItems items = draw_items(draw(), rows_.raw, order_[i], block.drawn);
      network_.add_crossed(items.shown, block);
      block.labels.push_back(items.hidden);
      block.left_out.push_back(items.shown.ids);
    } else {
      network_.add_crossed_sample(rows_.crossed, order_[i], block);
      block.labels.push_back(rows_.raw.labels(order_[i]));
    }
    if (!rows_.raw.weights().empty()) block.weights.push_back(rows_.raw.weights()[order_[i]]);
  }
}

double Trainer::rate() const {
  const double rate = optimizer_.rate_at(step_, fall_steps_);
  if (fall_steps_ == total_steps_ || step_ < config_.optimizer.warmup_steps) return rate;
  return std::max(rate, kMinRate * config_.optimizer.learning_rate);
}

double Trainer::step(std::size_t first, std::size_t count) {
  const std::size_t block_size = config_.train.block_size;
  const std::size_t used = (count + block_size - 1) / block_size;
  const float scale = 1.0f / static_cast<float>(count);
  optimizer_.set_rate(rate());
  optimizer_.set_noise(config_.train.seed, steps_before_ + step_);
  LapClock clock;
  parallel_for(used, threads_, [&](std::size_t b, int) {
    const std::size_t begin = b * block_size;
    fill_block(first + begin, std::min(block_size, count - begin), training_.block(b));
  });
  phases_.data += clock.lap();
  // A: forward, loss, backward; the network is const.
  training_.pass(std::as_const(network_), used, {steps_before_ + step_, scale, label_weights_}, phases_);
  clock.lap();
  // B: every touched row gets its gradient and its update from the shard that owns it.
  training_.update(network_, optimizer_, threads_);
  const StepSums sums = training_.sums();
  phases_.update += clock.lap();
  ++step_;
  // C: the hash tables follow the weights.
  follow_schedule();
  progress_.active += sums.active;
  progress_.sources.add(sums.sources);
  stop_agreed_ = sums.stop;
  return sums.loss;
}

void Trainer::follow_schedule() {
  const auto start = Clock::now();
  bool moved = false;
  for (std::size_t l = 0; l < rehash_.size(); ++l) {
    const bool rehash = rehash_[l].due(step_);
    if (rebuild_[l].due(step_)) {
      training_.rebuild_index(network_, l, ++generation_, threads_);
      moved = true;
    } else if (rehash) {
      training_.rehash(network_, l, threads_);
      moved = true;
    }
  }
  if (moved) phases_.rehash += seconds_since(start);
}

EvalReport Trainer::evaluate_now(const Dataset& data, const TrainObserver& observer) const {
  const auto start = Clock::now();
  InferenceOptions options;
  options.mode = config_.eval.inference;
  options.candidates = config_.eval.candidates;
  options.threads = threads_;
  options.progress = summed_progress(observer.evaluating, data.size());
  Metrics metrics = cluster_ != nullptr
                        ? evaluate_shared(*cluster_, trained(), data, options, config_.eval.k,
                                          inverse_propensities_, groups_)
                        : evaluate(trained(), data, options, config_.eval.k, inverse_propensities_, groups_);
  return {progress_.epoch, train_seconds_, seconds_since(start), progress_.epoch * order_.size(),
          std::move(metrics)};
}

}  // namespace slide

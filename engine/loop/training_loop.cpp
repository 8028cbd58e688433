#include "engine/loop/training_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "datasets/rows/shuffle.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/loop/table_report.h"

namespace slide {

using Clock = std::chrono::steady_clock;

namespace {

std::size_t full_batch(const LoopStart& start, const TrainConfig& config) {
  return start.batch_samples > 0 ? start.batch_samples : config.batch_size;
}

}  // namespace

TrainingLoop::TrainingLoop(LoopStart start, const Dataset& sizes)
    : network_(std::move(start.network)),
      training_(network_, sizes,
                {step_samples(full_batch(start, config().train), sizes.size()),
                 step_shape(config().train, start.threads).shards, start.threads, start.source->masks()},
                start.cluster),
      source_(std::move(start.source)),
      label_weights_(std::move(start.label_weights)),
      cluster_(start.cluster),
      threads_(start.threads),
      batch_(full_batch(start, config().train)),
      order_(source_->samples().begin(), source_->samples().end()),
      optimizer_(config().optimizer),
      tables_(network_, !start.continued),
      steps_(StepPlan::of(config().train, (order_.size() + batch_ - 1) / batch_, start.steps_before)) {
  source_->reserve(training_.blocks(), training_.bounds().feature_entries);
  if (start.optimizer) training_.set_optimizer_state(*std::move(start.optimizer));
}

bool TrainingLoop::run(const LoopObserver& observer,
                       const std::function<bool(const EpochEnd&)>& after_epoch) {
  bool finished = false;
  with_team(threads_, [&] { finished = run_epochs(observer, after_epoch); });
  return finished;
}

bool TrainingLoop::run_epochs(const LoopObserver& observer,
                              const std::function<bool(const EpochEnd&)>& after_epoch) {
  while (progress_.epoch <= config().train.epochs) {
    if (!run_epoch(observer)) return false;
    report_epoch(observer);
    report_tables(observer);
    const std::uint32_t epoch = progress_.epoch;
    if (after_epoch && !after_epoch({epoch, train_seconds_, epoch * order_.size()})) return true;
    progress_ = Progress{};
    progress_.epoch = epoch + 1;
  }
  return true;
}

// Continues the epoch at progress_.samples, which is not 0 after load(). Returns false if the observer stops
// it.
bool TrainingLoop::run_epoch(const LoopObserver& observer) {
  auto start = Clock::now();
  shuffle_epoch();
  phases_.data += seconds_since(start);
  while (progress_.samples < order_.size()) {
    const std::size_t count = std::min<std::size_t>(batch_, order_.size() - progress_.samples);
    progress_.loss += step(progress_.samples, count);
    progress_.samples += count;
    const double seconds = seconds_since(start);
    progress_.seconds += seconds;
    train_seconds_ += seconds;
    if (observer.epoch && progress_.samples == order_.size())
      progress_.recall = training_.table_recall(network_);
    if (!std::isfinite(progress_.loss)) {
      fail_run("the loss is no longer a number in epoch {}; lower optimizer.learning_rate (now {})",
               progress_.epoch, config().optimizer.learning_rate);
    }
    if (!report_step(observer)) return false;
    start = Clock::now();
  }
  return true;
}

// The order of an epoch depends on the seed and the epoch only.
void TrainingLoop::shuffle_epoch() {
  const std::span<const std::uint32_t> samples = source_->samples();
  order_.assign(samples.begin(), samples.end());
  if (!config().train.shuffle) return;
  std::vector<std::uint32_t> permutation(samples.size());
  shuffle_order(permutation, config().train.seed, progress_.epoch);
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = samples[permutation[i]];
}

// Fills the blocks, then phases A, B and C.
double TrainingLoop::step(std::size_t first, std::size_t count) {
  const std::size_t block_size = config().train.block_size;
  const std::size_t blocks = (count + block_size - 1) / block_size;
  const std::span<const std::uint32_t> batch = std::span(order_).subspan(first, count);
  optimizer_.set_rate(steps_.rate(optimizer_, config().optimizer));
  optimizer_.set_noise(config().train.seed, steps_.all());
  LapClock clock;
  parallel_for(blocks, threads_, [&](std::size_t b, int) {
    const std::size_t begin = b * block_size;
    source_->fill(network_, batch.subspan(begin, std::min(block_size, count - begin)), progress_.epoch,
                  training_.block(b));
  });
  phases_.data += clock.lap();
  // A: forward, loss, backward; the network is const.
  training_.pass(std::as_const(network_), blocks,
                 {steps_.all(), 1.0f / static_cast<float>(count), label_weights_, label_margins_}, phases_);
  clock.lap();
  // B: every row with a gradient is updated in the shard that owns it.
  training_.update(network_, optimizer_, threads_);
  const StepSums sums = training_.sums();
  phases_.update += clock.lap();
  ++steps_.done;
  // C: the hash tables follow the weights.
  if (tables_.follow(steps_.done, training_, network_, threads_)) phases_.rehash += clock.lap();
  progress_.active += sums.active;
  progress_.sources.add(sums.sources);
  progress_.stop_agreed = sums.stop;
  return sums.loss;
}

// Returns false where the run stops after this step. Several processes agree by the sums of the next step, so
// that all stop after the same one.
bool TrainingLoop::report_step(const LoopObserver& observer) {
  const auto done = double(progress_.samples);
  const bool continues =
      !observer.step ||
      observer.step({progress_.epoch, steps_.done, steps_.total, progress_.samples, progress_.loss / done,
                     progress_.active / done, progress_.seconds, progress_.stop_agreed});
  if (cluster_ == nullptr) return continues;
  if (!continues) training_.want_stop();
  return !progress_.stop_agreed;
}

void TrainingLoop::report_epoch(const LoopObserver& observer) const {
  if (!observer.epoch) return;
  const auto samples = double(order_.size());
  const double active = progress_.active / samples;
  std::optional<ActiveSources> sources;
  if (network_.output().sampled()) sources.emplace().add(progress_.sources, 1.0 / samples);
  observer.epoch({progress_.epoch, steps_.done, progress_.loss / samples, train_seconds_, phases_, active,
                  active / double(network_.labels()), sources, table_health(network_, progress_.recall),
                  samples / progress_.seconds, progress_.epoch * order_.size(),
                  cluster_ != nullptr ? cluster_->size() : 1,
                  cluster_ != nullptr ? cluster_->traffic() : Cluster::Traffic{}});
}

void TrainingLoop::report_tables(const LoopObserver& observer) const {
  if (!observer.tables) return;
  for (std::size_t l = 0; l < network_.layers().size(); ++l) {
    const Layer& layer = network_.layers()[l];
    if (layer.index() == nullptr) continue;
    observer.tables({progress_.epoch, progress_.epoch * order_.size(), network_.number_in_config(l),
                     occupancy_of(layer)});
  }
}

// Progress, times, number of steps, early stopping, schedules, and the state of NetworkTraining.
void TrainingLoop::save(ByteWriter& out) const {
  out.put(progress_.epoch);
  out.put(progress_.samples);
  for (const double value : {progress_.loss, progress_.active, progress_.seconds, train_seconds_})
    out.put(value);
  out.put(progress_.sources);
  out.put<std::uint8_t>(progress_.recall ? 1 : 0);
  out.put(progress_.recall.value_or(0.0));
  out.put(phases_);
  out.put(steps_.done);
  out.put(tables_.generation());
  out.put(stopping_.best);
  out.put(stopping_.without_better);
  tables_.save(out);
  training_.save(network_, out);
}

// In the order of save(); refuses a position beyond the data or the run.
void TrainingLoop::load(ByteReader& in) {
  progress_.epoch = in.get<std::uint32_t>();
  progress_.samples = in.get<std::uint64_t>();
  if (progress_.samples > source_->samples().size()) in.refuse("more samples than the training data has");
  for (double* value : {&progress_.loss, &progress_.active, &progress_.seconds, &train_seconds_})
    *value = in.get<double>();
  progress_.sources = in.get<ActiveSources>();
  const bool measured = in.get<std::uint8_t>() != 0;
  const auto recall = in.get<double>();
  if (measured) progress_.recall = recall;
  phases_ = in.get<PhaseSeconds>();
  steps_.done = in.get<std::uint64_t>();
  if (steps_.done > steps_.total) in.refuse("more steps than the run has");
  const auto generation = in.get<std::uint64_t>();
  stopping_.best = in.get<double>();
  stopping_.without_better = in.get<std::uint32_t>();
  tables_.load(in, generation, steps_.done);
  training_.load(in, network_);
}

}  // namespace slide

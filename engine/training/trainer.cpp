#include "engine/training/trainer.h"

#include <algorithm>
#include <utility>

#include "datasets/rows/data_parts.h"
#include "datasets/sidecar/label_weights.h"
#include "engine/crosses/feature_transform.h"
#include "engine/training/item_source.h"
#include "engine/wide/label_margins.h"
#include "engine/wide/network_start.h"

namespace slide {

namespace {

using Clock = std::chrono::steady_clock;

// The trained state that a job continues, or nullptr.
TrainedStart* continued(JobStart& start) {
  if (auto* from = std::get_if<ContinuedStart>(&start)) return &from->from;
  auto* resumed = std::get_if<ResumedStart>(&start);
  return resumed != nullptr && resumed->begun ? &*resumed->begun : nullptr;
}

TrainingJob checked(TrainingJob job) {
  if (job.cluster != nullptr && job.cluster->size() == 1) job.cluster = nullptr;
  return job;
}

DataShape shape_of(TrainingJob& job) {
  if (TrainedStart* start = continued(job.start)) return std::move(start->shape);
  DataShape shape = slide::shape_of(job.rows.raw);
  shape.crosses = job.rows.crosses.size();
  return shape;
}

std::unique_ptr<SampleSource> source_of(const TrainingJob& job, std::uint64_t steps_before) {
  const DataConfig& data = job.config.data;
  const std::string origin = shown_path(data.train);
  if (data.kind != DataKind::kInteractions) return std::make_unique<RowSource>(job.rows.crossed, origin);
  return std::make_unique<ItemSource>(
      job.rows.raw, ItemMasking{data.mask, data.normalize, job.config.train.seed + steps_before}, origin);
}

// Label weights by the configured file, which come with the data, or by label frequency; empty: all 1.
std::vector<float> label_weights_of(const TrainingJob& job, const DataShape& shape) {
  const Dataset& train = job.rows.raw;
  const double power = job.config.data.label_weights.power;
  if (power == 0) return {train.label_weights().begin(), train.label_weights().end()};
  return power_weights(shape.label_frequencies, train.label_frequencies(), power);
}

// `output_init`: see start_network(); stays where the job continues a model.
LoopStart loop_start(TrainingJob& job, const DataShape& shape, OutputInit& output_init) {
  TrainedStart* from = continued(job.start);
  const auto* resumed = std::get_if<ResumedStart>(&job.start);
  const std::uint64_t steps_before = from != nullptr ? from->steps : 0;
  auto source = source_of(job, steps_before);  // first: it refuses data without labels
  return {from != nullptr
              ? std::move(from->network)
              : start_network(job.config, job.rows, shape, job.threads, job.cluster, &output_init),
          std::move(source),
          label_weights_of(job, shape),
          from != nullptr,
          steps_before,
          from != nullptr ? std::move(from->optimizer) : std::nullopt,
          resumed != nullptr ? resumed->step_samples : 0,
          job.threads,
          job.cluster};
}

}  // namespace

Trainer::Trainer(TrainingJob job)
    : began_(Clock::now()),
      job_(checked(std::move(job))),
      shape_(shape_of(job_)),
      loop_(loop_start(job_, shape_, output_init_), job_.rows.crossed),
      evaluator_(job_.config.eval, shape_, job_.threads) {
  const double before = job_.rows.seconds + fit_neighbours();
  fit_margins();
  loop_.set_setup_seconds(before + seconds_since(began_));
}

// Takes the neighbours of a continued model, or fits them; known feature weights are moved in.
double Trainer::fit_neighbours() {
  if (TrainedStart* from = continued(job_.start)) {
    neighbours_ = std::move(from->neighbours);
    return 0.0;
  }
  if (job_.config.neighbours.share <= 0) return 0.0;
  auto* fresh = std::get_if<FreshStart>(&job_.start);
  const auto known = fresh != nullptr ? std::move(fresh->known) : nullptr;
  KnnFit fit =
      slide::fit_neighbours(job_.config.neighbours, job_.rows.raw, scale_of(network()), known, job_.threads);
  neighbours_ = std::move(fit.neighbours);
  learnt_ = std::move(fit.learnt);
  return known != nullptr && learnt_ == known ? known->seconds : 0.0;
}

// Margins belong to initial weights from this job's samples: a job that continues a model has none.
void Trainer::fit_margins() {
  const LayerConfig& output = job_.config.layers.back();
  if (!takes_margins(job_.config) || output.wide_margin == 0.0 || continued(job_.start) != nullptr) return;
  const FeatureScale& scale = scale_of(network());
  if (!output.wide_margin && neighbours_) {
    if (cluster() == nullptr || cluster()->rank() == 0) {
      margin_evidence_ =
          slide::margin_evidence(job_.rows.raw, shape_.label_frequencies, scale, output_init_,
                                 job_.config.neighbours, *neighbours_, job_.config.train.seed, job_.threads);
    }
    if (cluster() != nullptr)
      cluster()->broadcast(std::as_writable_bytes(std::span(&margin_evidence_, 1)), 0);
  }
  const double share = output.wide_margin.value_or(margin_evidence_.share());
  if (share == 0.0) return;
  loop_.set_label_margins(
      label_margins(job_.rows.raw, shape_.labels, scale, share * output_init_.scale, job_.threads));
}

bool Trainer::run(const TrainObserver& observer) {
  return loop_.run(observer, [&](const TrainingLoop::EpochEnd& end) { return evaluate(end, observer); });
}

// Returns false where train.patience ends the run.
bool Trainer::evaluate(const TrainingLoop::EpochEnd& end, const TrainObserver& observer) {
  const TrainConfig& train = job_.config.train;
  const bool due = end.epoch == train.epochs || (train.eval_every > 0 && end.epoch % train.eval_every == 0);
  if (!observer.eval || !due) return true;
  if (job_.evaluation.validation != nullptr) {
    EvalReport report = evaluate_on(*job_.evaluation.validation, end, observer);
    report.validation = true;
    report.best = loop_.stopping().record(evaluator_.score(report.metrics));
    observer.eval(report);
  }
  if (job_.evaluation.test != nullptr) observer.eval(evaluate_on(*job_.evaluation.test, end, observer));
  return !loop_.stopping().is_over(train.patience);
}

EvalReport Trainer::evaluate_on(const Dataset& data, const TrainingLoop::EpochEnd& end,
                                const TrainObserver& observer) const {
  EvalReport report = evaluator_.evaluate(trained(), data, job_.cluster, observer.evaluating);
  report.epoch = end.epoch;
  report.train_seconds = end.train_seconds;
  report.samples = end.samples;
  return report;
}

TrainedModel Trainer::release() && {
  Network network = std::move(loop_).release_network();
  return {std::move(network), std::move(neighbours_), std::move(loop_).release_optimizer()};
}

// The samples of an epoch ascend, and label texts have the ids after all samples.
std::size_t Trainer::labelled() const {
  const auto samples = loop_.source().samples();
  return static_cast<std::size_t>(std::ranges::lower_bound(samples, job_.rows.raw.samples()) -
                                  samples.begin());
}

}  // namespace slide

#include <slide/model.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <span>

#include "engine/api/arguments.h"
#include "engine/api/internals.h"
#include "engine/base/parallel.h"
#include "engine/inference/candidate_scorer.h"
#include "engine/inference/decisions.h"
#include "engine/inference/inference.h"
#include "engine/inference/reaching.h"
#include "engine/model/model_input.h"
#include "engine/run/calibrate.h"
#include "engine/run/model_use.h"

namespace slide::api {

namespace {

InferenceOptions options_of(const EvalConfig& config, Inference wanted, int threads) {
  InferenceOptions options;
  options.mode = config.inference;
  if (wanted == Inference::kAuto) options.mode = slide::Inference::kAuto;
  if (wanted == Inference::kFull) options.mode = slide::Inference::kFull;
  if (wanted == Inference::kLsh) options.mode = slide::Inference::kLsh;
  options.candidates = config.candidates;
  options.threads = threads;
  return options;
}

// `power`: none for eval.rare of the model.
std::shared_ptr<const RareRanking> rare_of(const slide::Model& model, const std::optional<double>& power) {
  if (!power) return rare_ranking(model);
  if (!(*power >= 0 && *power <= 1)) fail_input("rare = {} must be from 0 to 1", *power);
  return *power == 0 ? nullptr : make_rare_ranking(propensities(model), *power);
}

bool reaches_as_float(double score, double threshold) {
  return reaches_float(static_cast<float>(score), threshold);
}

const TextModel& text_of(const slide::Model& model) {
  if (model.text == nullptr) fail_input("the labels have no names: the model was not trained on text");
  return *model.text;
}

}  // namespace

void Model::Impl::build_tables(int threads) const {
  std::call_once(tables, [&] { model.build_tables(threads); });
}

void Model::Impl::build_asked_tables(int threads) const {
  if (CandidateScorer::asks_training_tables(model.network)) build_tables(threads);
}

Model::Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Model Model::load(const std::string& path, bool with_optimizer) {
  const LoadOptimizer wanted = with_optimizer ? LoadOptimizer::kYes : LoadOptimizer::kNo;
  return guarded([&] { return Internals::make(load_model(checked_path(path), wanted)); });
}

void Model::save(const std::string& path, bool force, std::optional<double> threshold,
                 bool keep_thresholds) const {
  guarded([&] {
    checked_path(path);
    const std::string fault = probability_fault(threshold.value_or(0));
    if (!fault.empty()) fail_input("threshold: {}", fault);
    if (!force && looks_like_model(path))
      fail_input("{}: a model lies there; give force to replace it, or another name", path);
    impl_->build_tables(0);  // the file stores their seeds
    const slide::Model& model = impl_->model;
    const OptimizerState* optimizer = model.optimizer ? &*model.optimizer : nullptr;
    std::optional<Thresholds> thresholds;
    if (threshold) thresholds.emplace(*threshold);
    if (!threshold && keep_thresholds) thresholds = model.thresholds;
    save_model(path, {model.config, model.shape, model.trained(), optimizer, model.steps, model.text.get(),
                      model.unseen_runs, model.form, nullptr, thresholds ? &*thresholds : nullptr});
  });
}

std::uint32_t Model::features() const {
  return static_cast<std::uint32_t>(impl_->model.trained().network.sample_features());
}
std::uint32_t Model::dense_columns() const {
  return static_cast<std::uint32_t>(impl_->model.shape.dense);
}
std::uint32_t Model::labels() const {
  return static_cast<std::uint32_t>(impl_->model.trained().network.labels());
}
std::uint64_t Model::steps() const {
  return impl_->model.steps;
}
Config Model::config() const {
  return guarded([&] { return Internals::make<Config>({impl_->model.config}); });
}
std::optional<double> Model::threshold() const {
  const std::optional<Thresholds>& thresholds = impl_->model.thresholds;
  return thresholds ? std::optional(thresholds->all()) : std::nullopt;
}
std::vector<std::pair<std::uint32_t, double>> Model::own_thresholds() const {
  std::vector<std::pair<std::uint32_t, double>> own;
  if (!impl_->model.thresholds) return own;
  for (const auto& [label, threshold] : impl_->model.thresholds->own()) own.emplace_back(label, threshold);
  return own;
}
bool Model::is_calibrated() const {
  return impl_->model.calibration.has_value();
}

Calibration Model::calibrate(const Data& data, int threads) {
  return guarded([&] {
    slide::Model& model = impl_->model;
    impl_->build_asked_tables(threads);
    const CalibrationResult found =
        fit_calibration(model, scaled_rows(Internals::of(data), model.config.data), threads);
    model.calibration = found.calibration;
    model.thresholds.reset();
    const auto& [slope, offset, mass] = found.calibration;
    return Calibration{slope,           offset, mass, found.before.all, found.after.all, found.before.best,
                       found.after.best};
  });
}

bool Model::is_text() const {
  return impl_->model.text != nullptr;
}

std::string_view Model::label_name(std::uint32_t label) const {
  const TextModel& text = text_of(impl_->model);
  if (label >= text.label_count())
    fail_input("there is no label {}; the model has {}", label, text.label_count());
  return text.label_name(label);
}

std::optional<std::uint32_t> Model::label_id(std::string_view name) const {
  return text_of(impl_->model).label_id(name);
}

struct Predictor::Impl {
  Impl(std::shared_ptr<const Model::Impl> of, const PredictOptions& wanted);

  void predict(const Dataset& rows, const slide::Predictor::Sink& sink) const;
  void predict(const Dataset& rows, const slide::Predictor::Wanted& wanted,
               const slide::Predictor::Sink& sink) const;
  using ReachesThreshold = bool (*)(double score, double threshold);
  Predictions predict_reaching(const Dataset& rows, const Thresholds& thresholds,
                               ReachesThreshold reaches) const;
  float score_of(float score) const {
    const bool as_probability = options.scores == Scores::kProbability;
    return as_probability ? float(probability_of(model->model.config.loss.kind, score)) : score;
  }

  std::shared_ptr<const Model::Impl> model;
  PredictOptions options;
  std::optional<slide::Predictor> predictor;
  mutable std::mutex mutex;
  mutable std::vector<slide::Predictor::Scratch> free;  // unused working memory
};

Predictor::Impl::Impl(std::shared_ptr<const Model::Impl> of, const PredictOptions& wanted)
    : model(std::move(of)), options(wanted) {
  check_k("k", options.k, model->model.trained().network.labels());
  InferenceOptions inference = options_of(model->model.config.eval, options.inference, options.threads);
  inference.low_latency = options.low_latency;
  inference.keep_known = options.keep_known;
  inference.k = std::min<std::size_t>(options.k, model->model.trained().network.labels());
  inference.log_softmax =
      options.scores == Scores::kProbability && is_normalised(model->model.config.loss.kind);
  if (inference.mode == slide::Inference::kLsh) model->build_asked_tables(options.threads);
  inference.shared = &model->scorers;
  inference.rare = rare_of(model->model, options.rare);
  predictor.emplace(model->model.trained(), inference);
}

void Predictor::Impl::predict(const Dataset& rows, const slide::Predictor::Sink& sink) const {
  predict(rows, predictor->wanted(), sink);
}

// Small calls reuse working memory from `free`; large ones make their own, which costs little beside their
// work.
void Predictor::Impl::predict(const Dataset& rows, const slide::Predictor::Wanted& wanted,
                              const slide::Predictor::Sink& sink) const {
  constexpr std::size_t kFewSamples = 128;
  if (rows.size() > kFewSamples) {
    std::vector<slide::Predictor::Scratch> own;
    return predictor->predict(rows, wanted, own, sink);
  }
  slide::Predictor::Scratch scratch;
  {
    const std::lock_guard lock(mutex);
    if (!free.empty()) {
      scratch = std::move(free.back());
      free.pop_back();
    }
  }
  predictor->predict(rows, wanted, scratch, sink);
  const std::lock_guard lock(mutex);
  free.push_back(std::move(scratch));
}

Predictor::Predictor(const Model& model, const PredictOptions& options)
    : impl_(guarded([&] { return std::make_shared<const Impl>(Internals::of(model), options); })) {}

std::size_t Predictor::k() const {
  return impl_->options.k;
}

Predictions Predictor::predict(const Data& data) const {
  return guarded([&] {
    Predictions best;
    best.k = k();
    best.labels.resize(data.samples() * best.k);
    best.scores.resize(data.samples() * best.k);
    predict(data, best.labels.data(), best.scores.data());
    return best;
  });
}

void Predictor::predict(const Data& data, std::uint32_t* labels, float* scores) const {
  guarded([&] {
    const std::size_t width = k();
    const Dataset rows = scaled_rows(Internals::of(data), impl_->model->model.config.data);
    impl_->predict(rows, [&](std::size_t sample, std::span<const Prediction> best) {
      std::uint32_t* const label = labels + sample * width;
      float* const score = scores + sample * width;
      for (std::size_t r = 0; r < best.size(); ++r) {
        label[r] = best[r].label;
        score[r] = impl_->score_of(best[r].score);
      }
      std::fill(label + best.size(), label + width, kNoLabel);
      std::fill(score + best.size(), score + width, 0.0F);
    });
  });
}

// All labels that reach their thresholds, as arrays [samples x k] of the largest k, padded with kNoLabel.
Predictions Predictor::Impl::predict_reaching(const Dataset& rows, const Thresholds& thresholds,
                                              ReachesThreshold reaches) const {
  std::vector<std::vector<Prediction>> found(rows.size());
  slide::predict_reaching(
      rows, predictor->wanted(), {model->model.trained().network.labels(), 0},
      [&](float score) { return reaches(score_of(score), thresholds.min()); },
      [&](const Dataset& some, const auto& wanted, const auto& sink) { predict(some, wanted, sink); },
      [&](std::size_t sample, auto best) {
        std::ranges::copy_if(best, std::back_inserter(found[sample]), [&](const Prediction& one) {
          return reaches(score_of(one.score), thresholds.of(one.label));
        });
      });
  Predictions all;
  for (const auto& best : found) all.k = std::max(all.k, best.size());
  all.labels.resize(rows.size() * all.k, kNoLabel);
  all.scores.resize(rows.size() * all.k, 0.0F);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t r = 0; r < found[i].size(); ++r) {
      all.labels[i * all.k + r] = found[i][r].label;
      all.scores[i * all.k + r] = score_of(found[i][r].score);
    }
  }
  return all;
}

Predictions Predictor::predict_reaching(const Data& data, float threshold) const {
  return guarded([&] {
    const bool as_probability = impl_->options.scores == Scores::kProbability;
    const std::string fault = probability_fault(as_probability ? decimal_of(threshold) : 0);
    if (!fault.empty()) fail_input("{}, or any number for logits", fault);
    const Dataset rows = scaled_rows(Internals::of(data), impl_->model->model.config.data);
    return impl_->predict_reaching(rows, Thresholds(threshold), reaches_as_float);
  });
}

Predictions Predictor::predict_reaching(const Data& data) const {
  return guarded([&] {
    const slide::Model& model = impl_->model->model;
    if (!model.thresholds)
      fail_input("the model has no thresholds; store them by slide convert --threshold, or give one");
    if (impl_->options.scores != Scores::kProbability)
      fail_input("the thresholds of the model are those of probabilities; ask for these, or give one");
    return impl_->predict_reaching(scaled_rows(Internals::of(data), model.config.data), *model.thresholds,
                                   reaches_written);
  });
}

}  // namespace slide::api

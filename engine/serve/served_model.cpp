#include "engine/serve/served_model.h"

#include <fmt/format.h>

#include <utility>

#include "datasets/rows/data_parts.h"
#include "engine/base/error.h"
#include "engine/base/phases.h"
#include "engine/inference/auto_inference.h"
#include "engine/model/run_paths.h"
#include "engine/run/model_use.h"
#include "engine/run/run_data.h"
#include "engine/run/users_log.h"

namespace slide::serve {

namespace {

Model load_regular(const std::string& path) {
  require_regular_model(path);
  return load_model(path);
}

}  // namespace

// Loads the model and builds all that requests need: predictors, users, similarity rows.
ServedModel::ServedModel(const Options& options)
    : path_(model_at(options.path)),
      model_(load_regular(path_)),
      names_(model_, options.labels),
      fingerprint_(fmt::format("{:08x}", model_.checksum)),
      inference_(options.inference.value_or(model_.config.eval.inference)),
      used_(model_.network.labels()) {
  if (options.without_thresholds) model_.thresholds.reset();
  if (options.threshold) model_.thresholds.emplace(*options.threshold);
  if (options.rare) model_.config.eval.rare = *options.rare;
  InferenceOptions wanted;
  wanted.rare = rare_ranking(model_);
  wanted.candidates = model_.config.eval.candidates;
  wanted.threads = options.threads;
  wanted.low_latency = true;
  full_.emplace(model_.trained(), wanted);
  if (resolved_inference(inference_, model_.network, {1, wanted.candidates, false}) == Inference::kLsh) {
    model_.build_asked_tables(options.threads);
    wanted.mode = Inference::kLsh;
    lsh_.emplace(model_.trained(), wanted);
  }
  if (!names_.warning().empty()) model_.notes.push_back(names_.warning());
  read_users(options.known, options.threads);
  const auto prepare = [&](SimilarOf of, std::optional<Similar>& similar) {
    similar.emplace(Similar{SimilarRows(model_, of, options.threads), SimilarNames(model_, of)});
    similar->rows.round_rows(options.threads);
  };
  if (options.similar) prepare(SimilarOf::kLabels, similar_);
  if (options.similar_features) prepare(SimilarOf::kFeatures, similar_features_);
  load_seconds_ = seconds_since(begun_);
  loaded_at_ = std::chrono::system_clock::now();
}

const char* ServedModel::kind() const {
  if (model_.text != nullptr) return has_items(model_.text->form()) ? "items" : "text";
  return model_.shape.dense > 0 ? "dense columns" : "features";
}

void ServedModel::read_users(const std::string& known, int threads) {
  const DataConfig& data = model_.config.data;
  const bool of_items = data.kind == DataKind::kInteractions;
  if (!of_items && !known.empty())
    fail_input("{}: the model was not trained on interactions; leave --known out", path_);
  if (!of_items) return;
  model_.known_given = !known.empty();
  if (model_.known_given) model_.config.data.known = known;
  const std::string log = usable_users_log(model_, model_.notes);
  if (log.empty()) return;
  users_.emplace(expanded(log), model_read_options(model_, threads));
}

Inference ServedModel::resolved(Inference mode, const Predictor::Wanted& wanted) const {
  if (mode == Inference::kAuto && (!lsh_ || wanted.exact)) return Inference::kFull;
  return resolved_inference(mode, model_.network,
                            {wanted.k, model_.config.eval.candidates, wanted.log_softmax});
}

Inference ServedModel::usual_inference() const {
  return resolved(inference_, {1, is_normalised(model_.config.loss.kind)});
}

const Predictor* ServedModel::predictor(Inference mode) const {
  const std::optional<Predictor>& wanted = mode == Inference::kLsh ? lsh_ : full_;
  return wanted ? &*wanted : nullptr;
}

std::unique_ptr<Workspace> ServedModel::borrow() const {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Workspace> space = std::move(free_.back());
      free_.pop_back();
      return space;
    }
  }
  return std::make_unique<Workspace>(model_.config.text);
}

void ServedModel::give_back(std::unique_ptr<Workspace> space) const {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(space));
}

}  // namespace slide::serve

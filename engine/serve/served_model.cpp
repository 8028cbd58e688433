#include "engine/serve/served_model.h"

#include <fmt/format.h>

#include <utility>

#include "engine/base/phases.h"
#include "engine/run/run_folder.h"

namespace slide::serve {

namespace {

Model load_regular(const std::string& name) {
  require_regular_model(model_at(name));
  return load_model(name);
}

}  // namespace

ServedModel::ServedModel(const Options& options)
    : path_(options.path),
      model_(load_regular(options.path)),
      names_(model_, options.labels),
      fingerprint_(fmt::format("{:08x}", model_.checksum)) {
  InferenceOptions wanted;
  wanted.candidates = model_.config.eval.candidates;
  wanted.threads = options.threads;
  wanted.low_latency = true;
  full_.emplace(model_.trained(), wanted);
  if (options.inference.value_or(model_.config.eval.inference) == Inference::kLsh) {
    model_.build_asked_tables(options.threads);
    wanted.mode = Inference::kLsh;
    lsh_.emplace(model_.trained(), wanted);
  }
  load_seconds_ = seconds_since(begun_);
  loaded_at_ = std::chrono::system_clock::now();
}

const char* ServedModel::kind() const {
  if (model_.text != nullptr) return has_items(model_.text->form()) ? "items" : "text";
  return model_.shape.dense > 0 ? "dense columns" : "features";
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

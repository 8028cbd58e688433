#include "engine/training/evaluator.h"

#include <chrono>
#include <memory>
#include <utility>

#include "engine/base/phases.h"
#include "engine/inference/shared_predictor.h"

namespace slide {

Evaluator::Evaluator(const EvalConfig& config, const DataShape& shape, int threads)
    : config_(config),
      threads_(threads),
      inverse_propensities_(std::make_shared<const InversePropensities>(
          shape.label_frequencies, shape.samples, config.propensity_a, config.propensity_b)),
      groups_(std::make_shared<const LabelGroups>(shape.label_frequencies)),
      rare_(make_rare_ranking(inverse_propensities_, config.rare)) {}

// Processes that share the network evaluate together.
EvalReport Evaluator::evaluate(const TrainedNetwork& trained, const Dataset& data, Cluster* cluster,
                               const std::function<void(std::size_t, std::size_t)>& progress) const {
  const auto start = std::chrono::steady_clock::now();
  InferenceOptions options;
  options.mode = config_.inference;
  options.candidates = config_.candidates;
  options.threads = threads_;
  options.rare = rare_;
  options.progress = summed_progress(progress, data.size());
  Metrics metrics =
      cluster != nullptr
          ? evaluate_shared(*cluster, trained, data, options, config_.k, inverse_propensities_, groups_)
          : slide::evaluate(trained, data, options, config_.k, inverse_propensities_, groups_);
  return {0, 0.0, seconds_since(start), 0, std::move(metrics)};
}

double Evaluator::score(const Metrics& metrics) const {
  double score = 0.0;
  for (const std::uint32_t k : config_.k) score += metrics.precision(k);
  return score / double(config_.k.size());
}

}  // namespace slide

#include "engine/run/model_use.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "engine/base/phases.h"
#include "engine/run/run_data.h"

namespace slide {

Metrics::Propensities propensities(const Model& model) {
  const EvalConfig& eval = model.config.eval;
  return std::make_shared<const InversePropensities>(model.shape.label_frequencies, model.shape.samples,
                                                     eval.propensity_a, eval.propensity_b);
}

Model open_model(const std::string& path, const ModelUse& use, const Cluster* cluster) {
  Model model = load_model(path, LoadOptimizer::kNo, cluster);
  if (use.format) model.config.data.format = *use.format;
  if (use.inference) model.config.eval.inference = *use.inference;
  return model;
}

namespace {

// What the model's own eval keys and these say; builds the hash tables that it needs.
InferenceOptions prepared(Model& model, int threads, std::size_t k, bool log_softmax, bool by_row = false) {
  InferenceOptions options;
  options.k = k;
  options.mode = model.config.eval.inference;
  options.candidates = model.config.eval.candidates;
  options.threads = threads;
  options.log_softmax = log_softmax;
  options.by_row = by_row;
  if (options.mode == Inference::kLsh) model.build_tables(threads);
  return options;
}

}  // namespace

Predictor make_predictor(Model& model, int threads, std::size_t k, bool log_softmax, bool by_row) {
  return Predictor(model.trained(), prepared(model, threads, k, log_softmax, by_row));
}

std::unique_ptr<SharedPredictor> make_shared_predictor(Model& model, Cluster& cluster, int threads,
                                                       std::size_t k, bool log_softmax, bool by_row) {
  return std::make_unique<SharedPredictor>(cluster, model.trained(),
                                           prepared(model, threads, k, log_softmax, by_row));
}

TestResult test_model(Model& model, const std::string& data, const std::vector<std::uint32_t>& ks,
                      int threads, bool skip_bad, Cluster* cluster) {
  const TestData read = read_test_data(data, model, threads, skip_bad);
  const Dataset& samples = read.rows;
  const Unknown unknown = count_unknown(samples, read.report, model.network.labels());
  const std::size_t most = *std::max_element(ks.begin(), ks.end());
  if (cluster != nullptr && cluster->size() > 1) {
    const InferenceOptions options = prepared(model, threads, most, false);
    const auto start = std::chrono::steady_clock::now();
    Metrics metrics =
        evaluate_shared(*cluster, model.trained(), samples, options, ks, propensities(model), nullptr);
    return {samples.size(), unknown, read.report, seconds_since(start), std::move(metrics)};
  }
  const Predictor predictor = make_predictor(model, threads, most, false);
  const auto start = std::chrono::steady_clock::now();
  Metrics metrics = evaluate(predictor, samples, ks, propensities(model));
  return {samples.size(), unknown, read.report, seconds_since(start), std::move(metrics)};
}

}  // namespace slide

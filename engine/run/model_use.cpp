#include "engine/run/model_use.h"

#include <algorithm>
#include <chrono>

#include "datasets/sidecar/label_pairs.h"
#include "engine/base/error.h"
#include "engine/base/phases.h"
#include "engine/inference/auto_inference.h"
#include "engine/run/ranks.h"

namespace slide {

Metrics::Propensities propensities(const Model& model, std::optional<PropensityConstants> constants) {
  const EvalConfig& eval = model.config.eval;
  const PropensityConstants used =
      constants.value_or(PropensityConstants{eval.propensity_a, eval.propensity_b});
  return std::make_shared<const InversePropensities>(model.shape.label_frequencies, model.shape.samples,
                                                     used.a, used.b);
}

std::shared_ptr<const RareRanking> rare_ranking(const Model& model) {
  const double power = model.config.eval.rare;
  return power == 0 ? nullptr : make_rare_ranking(propensities(model), power);
}

Model open_model(const std::string& path, const ModelUse& use, const Cluster* cluster) {
  Model model = load_model(path, LoadOptimizer::kNo, cluster);
  if (use.format) model.config.data.format = *use.format;
  if (use.rare) model.config.eval.rare = *use.rare;
  if (use.inference) model.config.eval.inference = *use.inference;
  const bool of_items = model.config.data.kind == DataKind::kInteractions;
  if (!of_items && (use.keep_known || !use.known.empty())) {
    fail_input("{}: the model was not trained on interactions; leave {} out", path,
               use.keep_known ? "--keep-known" : "--known");
  }
  model.known_given = !use.known.empty();
  if (model.known_given) model.config.data.known = use.known;
  model.keep_known = use.keep_known;
  return model;
}

namespace {

// Options from the model's eval keys and the arguments; builds the hash tables they need.
InferenceOptions prepared(Model& model, int threads, std::size_t k, bool log_softmax, bool by_row = false) {
  InferenceOptions options;
  options.k = k;
  options.mode = model.config.eval.inference;
  options.candidates = model.config.eval.candidates;
  options.threads = threads;
  options.log_softmax = log_softmax;
  options.by_row = by_row;
  options.keep_known = model.keep_known;
  options.rare = rare_ranking(model);
  if (options.mode == Inference::kLsh) model.build_asked_tables(threads);
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

TestResult test_model(Model& model, const TestData& data, const TestOptions& options, Cluster* cluster) {
  const Dataset& samples = data.rows;
  const Unknown unknown = count_unknown(samples, data.report, model.network.labels());
  const auto label_bound = std::max<std::uint64_t>(model.network.labels(), samples.label_count());
  const LabelPairs pairs = options.filter.empty() ? LabelPairs()
                                                  : read_label_pairs(options.filter, samples.size(),
                                                                     static_cast<std::uint32_t>(label_bound));
  Metrics none(options.ks, propensities(model, options.propensity));
  if (model.config.data.kind == DataKind::kInteractions) none.include_first_hits();
  const std::size_t largest = *std::ranges::max_element(options.ks) + pairs.max_per_sample();
  const bool together = cluster != nullptr && cluster->size() > 1;
  if (together) {
    require_same_rows(*cluster, &samples);
    require_same_pairs(*cluster, pairs, samples.size());
  }
  InferenceOptions wanted = prepared(model, options.threads, largest, false);
  wanted.progress = summed_progress(options.progress, samples.size());
  std::optional<Predictor> predictor;
  if (!together) predictor.emplace(model.trained(), wanted);
  const auto start = std::chrono::steady_clock::now();
  Ranking ranking = together ? ranked_shared(*cluster, model.trained(), samples, wanted, pairs)
                             : ranked(*predictor, samples, pairs);
  Dataset truth = pairs.empty() ? samples : labels_without(samples, pairs);
  Metrics metrics = measured(ranking, truth, none);
  return {samples.size(),
          unknown,
          data.report,
          seconds_since(start),
          resolved_inference(wanted.mode, model.network, {largest, wanted.candidates, false}),
          std::move(metrics),
          std::move(ranking),
          std::move(truth)};
}

}  // namespace slide

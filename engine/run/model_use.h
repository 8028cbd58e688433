// Use of a saved model on data: loading, prediction, evaluation. Functions are safe from any thread, for
// different models.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/inference/inference.h"
#include "engine/inference/metrics.h"
#include "engine/inference/shared_predictor.h"
#include "engine/model/model_file.h"
#include "engine/run/run_data.h"

namespace slide {

// Overrides of the model's own settings.
struct ModelUse {
  std::optional<Inference> inference;  // none: eval.inference
  std::optional<double> rare = {};     // none: eval.rare
  std::optional<DataFormat> format;    // of the data; none: data.format
  int threads = 0;                     // 0 = all cores
  // For interactions: file with the users' known items (empty: data.known, or data.train); and whether
  // predictions include known items.
  std::string known = {};
  bool keep_known = false;
};

// Loads the model and applies `use` to its configuration. Throws as load_model().
Model open_model(const std::string& path, const ModelUse& use, const Cluster* cluster = nullptr);

// The predictor that the model's eval keys describe; builds the hash tables it needs. `model` must outlive it
// and must not move. `log_softmax`, `by_row`: see InferenceOptions.
Predictor make_predictor(Model& model, int threads, std::size_t k, bool log_softmax, bool by_row = false);

// The same for a cluster, where each process holds a shard of the model. Collective. Throws as
// SharedPredictor.
std::unique_ptr<SharedPredictor> make_shared_predictor(Model& model, Cluster& cluster, int threads,
                                                       std::size_t k, bool log_softmax, bool by_row = false);

// Constants of the propensity model (InversePropensities).
struct PropensityConstants {
  double a = 0, b = 0;
};

// Inverse propensities of the labels from their training frequencies, with the given constants, or else the
// constants in the model's eval keys. The model must outlive them.
Metrics::Propensities propensities(const Model& model, std::optional<PropensityConstants> constants = {});

// The ranking that eval.rare of the model describes, or nullptr. The model must outlive it.
std::shared_ptr<const RareRanking> rare_ranking(const Model& model);

struct TestOptions {
  std::vector<std::uint32_t> ks;  // ranks of the metrics, each once
  int threads = 0;
  std::string filter = {};  // file of ignored (sample, label) pairs (label_pairs.h), or empty
  std::optional<PropensityConstants> propensity = {};
  Progress progress = {};  // called from any thread
};

struct TestResult {
  std::size_t samples = 0;
  Unknown unknown;                         // features and labels unknown to the model
  ReadReport report;                       // from reading the samples
  double seconds = 0.0;                    // prediction and evaluation, without loading
  Inference inference = Inference::kFull;  // how the predictions were made
  Metrics metrics;
  Ranking ranking;  // evaluated predictions, best labels first
  Dataset truth;    // true labels; both without the ignored pairs
};

// Evaluates the model on the samples. Throws InputError for an invalid filter. Collective in a cluster, where
// each process holds a shard; all get the same result.
TestResult test_model(Model& model, const TestData& data, const TestOptions& options,
                      Cluster* cluster = nullptr);

}  // namespace slide

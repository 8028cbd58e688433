// How a saved model is put to work on data: opened, set up for prediction, measured. Functions may be called
// from any thread, on different models.
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
#include "engine/run/model_file.h"
#include "engine/run/run_data.h"

namespace slide {

// What may differ from what the model says itself.
struct ModelUse {
  std::optional<Inference> inference;  // none: eval.inference
  std::optional<DataFormat> format;    // of the data; none: data.format
  int threads = 0;                     // 0 = all cores
  // Of interactions: the file with what users have already (empty: data.known, or data.train), and whether
  // predictions answer that, too.
  std::string known = {};
  bool keep_known = false;
};

// Loads the model and puts `use` into its configuration. Throws as load_model().
Model open_model(const std::string& path, const ModelUse& use, const Cluster* cluster = nullptr);

// The predictor that the model's own eval keys describe. Builds the hash tables that it needs. `model` must
// outlive it and stay where it is. `log_softmax`, `by_row`: as in InferenceOptions.
Predictor make_predictor(Model& model, int threads, std::size_t k, bool log_softmax, bool by_row = false);

// The same of the processes of a cluster, each with its share of the model: all call it together. Throws as
// SharedPredictor.
std::unique_ptr<SharedPredictor> make_shared_predictor(Model& model, Cluster& cluster, int threads,
                                                       std::size_t k, bool log_softmax, bool by_row = false);

// The constants of the propensity model (InversePropensities).
struct PropensityConstants {
  double a = 0, b = 0;
};

// What P@k is weighted with, of the labels' frequencies in training, by these constants or the model's own
// eval keys. The model must outlive them.
Metrics::Propensities propensities(const Model& model, std::optional<PropensityConstants> constants = {});

struct TestOptions {
  std::vector<std::uint32_t> ks;  // ranks to measure at, each once
  int threads = 0;
  std::string filter = {};  // file of pairs that do not count (label_pairs.h), or empty
  std::optional<PropensityConstants> propensity = {};
  Progress progress = {};  // hears how far it is, from any thread
};

struct TestResult {
  std::size_t samples = 0;
  Unknown unknown;       // what the model does not know of them
  ReadReport report;     // of their reading
  double seconds = 0.0;  // of predicting and measuring; loading does not count
  Metrics metrics;
  Ranking ranking;  // what was measured: the best labels,
  Dataset truth;    // and the true ones, both without the pairs that do not count
};

// Measures the model on these samples. Throws InputError for the filter. The processes of a cluster, each
// with its share of the model, measure it together and get the same.
TestResult test_model(Model& model, const TestData& data, const TestOptions& options,
                      Cluster* cluster = nullptr);

}  // namespace slide

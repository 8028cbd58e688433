// A trained network: the model file, predictions, measures.
//
// Model and Predictor are immutable handles: copies share what they hold, and any number of threads may use
// them at once. A Predictor keeps its Model alive.
#pragma once

#include <slide/config.h>
#include <slide/data.h>
#include <slide/export.h>
#include <slide/measures.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slide::api {

// A label or a feature, and how much it has to do with the label asked about.
struct Related {
  std::uint32_t id = 0;
  double score = 0.0;
};

class SLIDE_API Model {
 public:
  struct Impl;  // of the library

  // Reads what save() or `slide train` wrote; the state of the optimizer, which continue_training() goes on
  // with, only where asked to and where the file holds it.
  static Model load(const std::string& path, bool with_optimizer = false);
  // The file gets its name when it is whole. A model from train() is written with the state of its optimizer
  // unless train.save_optimizer is off, a loaded one without.
  void save(const std::string& path) const;

  std::uint32_t features() const;
  std::uint32_t dense_columns() const;  // of these: those of Data::from_dense(), or of .npy files
  std::uint32_t labels() const;
  std::uint64_t steps() const;  // of training
  Config config() const;        // of the training run

  // Whether it was trained on text; then its labels have names.
  bool is_text() const;
  // Valid as long as the model; throws InputError without names or such a label.
  std::string_view label_name(std::uint32_t label) const;
  // Nothing where no label has the name.
  std::optional<std::uint32_t> label_id(std::string_view name) const;
  // Of a model trained on text; throws as label_name(). Of a pair of features (data.crosses), which has a
  // number from features() on, "a + b", with any model.
  std::string feature_name(std::uint32_t feature) const;

  // The `count` other labels whose vectors have the largest cosines with that of `label`, best first; none
  // whose vector is all 0. Throws InputError when there is no such label.
  std::vector<Related> nearest_labels(std::uint32_t label, std::size_t count) const;
  // The `count` features with the largest weights straight to the label, best first; feature crosses are
  // among them where the model has no hidden layer and no wide path.
  // Throws InputError when there is no such label, or the model has hidden layers but no wide path.
  std::vector<Related> strongest_features(std::uint32_t label, std::size_t count) const;

  // Numbers in the vector of a label, which is its weights in the output layer, and in the hidden vector of a
  // sample, which is what these are multiplied with.
  std::size_t vector_size() const;
  // vectors [labels() x vector_size()], row by row.
  void label_vectors(float* vectors) const;
  // vectors [data.samples() x vector_size()], row by row, by `threads` threads; 0 = all cores. Throws
  // InputError when the model has no hidden layer, or the data have more features than the model.
  void hidden_vectors(const Data& data, float* vectors, int threads = 0) const;

 private:
  friend struct Internals;
  explicit Model(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

enum class Scores {
  kProbability,  // of the label
  kLogit,        // what the output neuron says
};

enum class Inference {
  kConfigured,  // eval.inference of the model
  kFull,        // all labels are scored
  kLsh,         // those that hash tables find
};

struct PredictOptions {
  std::size_t k = 5;  // labels for a sample
  Scores scores = Scores::kProbability;
  Inference inference = Inference::kConfigured;
  int threads = 0;  // of one call; 0 = all cores
  // Memory is spent, 2 bytes a weight of the output layer, on answering samples that come alone sooner, where
  // all labels are scored.
  bool low_latency = false;
  bool keep_known = false;  // of a model of interactions: what a sample has already is answered, too
};

inline constexpr std::uint32_t kNoLabel = 0xffffffff;

// The best labels of some samples, best first: the one of sample i and rank r stands at place i * k + r.
// Where there are less than k, the rest is kNoLabel with score 0.
struct Predictions {
  std::size_t k = 0;
  std::vector<std::uint32_t> labels;
  std::vector<float> scores;
};

class SLIDE_API Predictor {
 public:
  struct Impl;  // of the library

  // With kLsh the tables are built here. Throws InputError when the model has none or k is 0.
  explicit Predictor(const Model& model, const PredictOptions& options = {});

  // At most 128 samples are answered on the calling thread alone, with memory that is kept for the next call;
  // more by `threads` threads. Throws InputError when the data have more features than the model.
  Predictions predict(const Data& data) const;
  // The same into the caller's arrays, data.samples() * k() of each.
  void predict(const Data& data, std::uint32_t* labels, float* scores) const;

  std::size_t k() const;

 private:
  std::shared_ptr<const Impl> impl_;
};

// How good the model is on samples whose labels are known, at the ranks `ks`; none: eval.k of the model.
SLIDE_API Measures evaluate(const Model& model, const Data& data, const std::vector<std::uint32_t>& ks = {},
                            int threads = 0);

}  // namespace slide::api

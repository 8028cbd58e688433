// A trained network: model file, predictions, metrics.
//
// Model and Predictor are handles: copies share their content. Only Model::calibrate() changes it; all else
// is safe from any thread. A Predictor keeps its Model alive.
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
#include <utility>
#include <vector>

namespace slide::api {

// Result of Model::calibrate(): calibrated log-odds are slope * s + offset + mass * log(m), with the log-odds
// s of a label and the sum m of the probabilities of the sample's 20 best labels. The expected calibration
// errors on its samples, of the 20 best labels of each and of the best alone, are those before and after.
struct Calibration {
  float slope = 1, offset = 0, mass = 0;
  double error_before = 0, error = 0, best_error_before = 0, best_error = 0;
};

// A label or feature related to a given label, with the strength of the relation.
struct Related {
  std::uint32_t id = 0;
  double score = 0.0;
};

class SLIDE_API Model {
 public:
  struct Impl;  // internal

  // Reads a model file written by save() or `slide train`; with_optimizer: also the optimizer state for
  // continue_training(), if the file has it. Throws InputError for a missing or damaged file.
  static Model load(const std::string& path, bool with_optimizer = false);
  // Writes the model file atomically. Models from train() include the optimizer state unless
  // train.save_optimizer is off; loaded models do not. Throws InputError where a model lies at `path`, unless
  // `force` replaces it; Error where the file cannot be written. `threshold`, from 0 to 1: stored in place of
  // the thresholds of the model (threshold()). Without it the file keeps the thresholds of the model if
  // `keep_thresholds`.
  void save(const std::string& path, bool force = false, std::optional<double> threshold = {},
            bool keep_thresholds = true) const;

  std::uint32_t features() const;
  std::uint32_t dense_columns() const;  // of Data::from_dense() or .npy files; part of features()
  std::uint32_t labels() const;
  std::uint64_t steps() const;  // of training
  Config config() const;        // of the training run
  // The probability that a label needs to be predicted, as `slide convert --threshold` stored it, for labels
  // without a threshold of their own; nullopt: none is stored.
  std::optional<double> threshold() const;
  // The labels with a threshold of their own, and these thresholds; ascending by label.
  std::vector<std::pair<std::uint32_t, double>> own_thresholds() const;

  // Fits the probabilities to samples that training has not seen, with their labels, in place of an earlier
  // calibration; the order of labels stays. All copies have it, and save() writes it; thresholds of the model
  // are dropped, and predictors made before keep their probabilities. Not while other threads use the model.
  // Throws InputError for softmax, and where no map fits, as without a true label among the best; then
  // nothing changes.
  Calibration calibrate(const Data& data, int threads = 0);
  bool is_calibrated() const;

  // Whether the model was trained on text; labels then have names.
  bool is_text() const;
  // Valid while the model lives. Throws InputError where labels have no names or the label does not exist.
  std::string_view label_name(std::uint32_t label) const;
  // nullopt where no label has the name.
  std::optional<std::uint32_t> label_id(std::string_view name) const;
  // Name of a feature of a text model; throws as label_name(). For feature crosses (data.crosses), whose ids
  // start at features(): "a + b", with any model.
  std::string feature_name(std::uint32_t feature) const;

  // The `count` other labels of largest cosine similarity with `label`, by label_vectors(), best first;
  // labels with zero vectors are excluded. Throws InputError where the label does not exist.
  std::vector<Related> nearest_labels(std::uint32_t label, std::size_t count) const;
  // nearest_labels() for many, or with `features` for features by their vectors. The vectors are made by the
  // first call and kept, 4 * vector_size() bytes each. Throws InputError for an id that does not exist, and
  // where the model has no vectors of labels or features. O(ids * labels * vector_size()).
  struct SimilarOptions {
    bool features = false;
    int threads = 0;  // 0 = all cores
  };
  std::vector<std::vector<Related>> similar(const std::vector<std::uint32_t>& ids, std::size_t count,
                                            const SimilarOptions& options) const;
  // The `count` features of largest direct weight for the label, best first; includes feature crosses where
  // the model has neither hidden layer nor linear term. Throws InputError where the label does not exist, or
  // the model has hidden layers but no linear term.
  std::vector<Related> strongest_features(std::uint32_t label, std::size_t count) const;
  // The `count` features of a sample that raise the logit of a label most, with their parts of it, all above
  // 0, best first: gradient times input. `labels`: [samples x k], as in Predictions. Returns samples * k
  // lists, empty for kNoLabel. Throws InputError for other labels that do not exist or `labels` of another
  // size. O(labels.size() * (features of a sample * hidden units)).
  std::vector<std::vector<Related>> explain(const Data& data, const std::vector<std::uint32_t>& labels,
                                            std::size_t count) const;

  // Size of a label vector (its output-layer weights) and of a sample's hidden vector (the input of the
  // output layer).
  std::size_t vector_size() const;
  // vectors [labels() x vector_size()], row by row.
  void label_vectors(float* vectors) const;
  // vectors [data.samples() x vector_size()], row by row, with `threads` threads (0 = all cores). Throws
  // InputError where the model has no hidden layer, or the data have more features than the model.
  void hidden_vectors(const Data& data, float* vectors, int threads = 0) const;

 private:
  friend struct Internals;
  explicit Model(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

enum class Scores {
  kProbability,  // probability of the label
  kLogit,        // logit of the output neuron
};

enum class Inference {
  kConfigured,  // eval.inference of the model
  kAuto,        // kLsh where it is faster at equal answers: many labels, few of them wanted; else kFull
  kFull,        // scores all labels
  kLsh,         // scores candidates from hash tables
};

struct PredictOptions {
  std::size_t k = 5;  // labels per sample
  Scores scores = Scores::kProbability;
  Inference inference = Inference::kConfigured;
  int threads = 0;  // per call; 0 = all cores
  // Trades memory, a byte per output-layer weight, for low latency of single samples; for Inference::kFull.
  bool low_latency = false;
  bool keep_known = false;  // for models of interactions: answers include the sample's own items
  // Ranks by probability divided by the propensity of the label to this power, from 0 (for P@k) to 1 (for
  // PSP@k), where the k best are asked for; scores stay. nullopt: eval.rare of the model.
  std::optional<double> rare = std::nullopt;
};

inline constexpr std::uint32_t kNoLabel = 0xffffffff;

// The top-k labels per sample, best first: sample i, rank r is at index i * k + r. Missing labels are
// kNoLabel with score 0.
struct Predictions {
  std::size_t k = 0;
  std::vector<std::uint32_t> labels;
  std::vector<float> scores;
};

class SLIDE_API Predictor {
 public:
  struct Impl;  // internal

  // Builds the hash tables for kLsh, unless another predictor of the model has them. Throws InputError where
  // the model has none or k is 0.
  explicit Predictor(const Model& model, const PredictOptions& options = {});

  // Predicts on the calling thread for at most 128 samples, with memory that is kept for the next call;
  // otherwise on `threads` threads. Throws InputError where the data have more features than the model.
  Predictions predict(const Data& data) const;
  // All labels of each sample whose score reaches `threshold`, however many, whatever k() is;
  // Predictions::k is how many the sample with the most of them has. Throws InputError for a threshold that
  // is not from 0 to 1, unless scores are logits.
  Predictions predict_reaching(const Data& data, float threshold) const;
  // The same by the thresholds of the model; throws InputError where it has none, and unless scores are
  // probabilities.
  Predictions predict_reaching(const Data& data) const;
  // The same as predict() into the caller's arrays, data.samples() * k() of each.
  void predict(const Data& data, std::uint32_t* labels, float* scores) const;

  std::size_t k() const;

 private:
  std::shared_ptr<const Impl> impl_;
};

// Metrics of the model on labelled samples at the ranks `ks`; empty: eval.k of the model. `reliability`: is
// set to the reliability of the labels that each sample has down to the largest rank; to nullopt where no
// label is predicted.
SLIDE_API Measures evaluate(const Model& model, const Data& data, const std::vector<std::uint32_t>& ks = {},
                            int threads = 0, std::optional<Reliability>* reliability = nullptr);

}  // namespace slide::api

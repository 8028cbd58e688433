// Implementation classes of the public handles, and access to them. Internal to the library.
#pragma once

#include <slide/config.h>
#include <slide/data.h>
#include <slide/model.h>
#include <array>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/unknown_labels.h"
#include "datasets/text/text_model.h"
#include "engine/base/error.h"
#include "engine/config/config.h"
#include "engine/inference/reliability.h"
#include "engine/inference/scorers.h"
#include "engine/model/model_file.h"
#include "engine/run/known_users.h"
#include "engine/run/similar.h"
#include "engine/training/trainer.h"

namespace slide::api {

struct Config::Impl {
  slide::Config config;
};

// Settings with which a file was read, needed by later readers.
struct Reading {
  DataConfig options;
  std::shared_ptr<const TextModel> text;  // may be nullptr
  // Names of the labels that `text` does not know; their ids follow the labels of `text`. Or nullptr.
  std::shared_ptr<const UnknownLabels> unknown = nullptr;
  std::uint64_t unknown_features = 0;  // left out
  // The vocabulary that `text` continues (Data::learn_more_texts()), or nullptr.
  std::shared_ptr<const TextModel> before = nullptr;
};

struct Data::Impl {
  Dataset rows;
  std::optional<Reading> reading;  // none: from memory, unscaled values
  // Only from memory: the arrays of `rows`, and their owner.
  DatasetView view;
  std::shared_ptr<const void> storage;
  std::size_t copied_bytes = 0;
  std::vector<std::string> warnings = {};           // of a file
  std::shared_ptr<const NameList> users = nullptr;  // of the samples, or nullptr
  // Weights of labels 0, 1, ..., possibly of fewer than all labels; or nullptr.
  std::shared_ptr<const std::vector<float>> label_weights = nullptr;
};

struct KnownUsers::Impl {
  Impl(std::shared_ptr<const Model::Impl> model, const std::string& path);

  std::shared_ptr<const Model::Impl> model;
  std::string path;
  slide::KnownUsers users;
};

struct Model::Impl {
  explicit Impl(slide::Model trained) : model(std::move(trained)) { model.known_option = "known=..."; }

  mutable slide::Model model;  // constant except for its hash tables
  mutable std::once_flag tables;
  mutable SharedScorers scorers;  // of all predictors of the model
  // Similarity indexes of labels and of features, built on first use.
  mutable std::mutex similar_mutex;
  mutable std::array<std::shared_ptr<const SimilarRows>, 2> similar_rows;
  std::shared_ptr<const SimilarRows> similar(bool features, int threads) const;

  // Builds the tables of a loaded model on the first call. Thread-safe: only users of tables access them,
  // after this call.
  void build_tables(int threads) const;
  // The same, only where LSH inference uses training tables.
  void build_asked_tables(int threads) const;
};

struct Internals {
  static const slide::Config& of(const Config& config) { return config.impl_->config; }
  static const Data::Impl& of(const Data& data) { return *data.impl_; }
  static const std::shared_ptr<const Model::Impl>& of(const Model& model) { return model.impl_; }
  template <class Handle>
  static Handle make(typename Handle::Impl&& impl) {
    return Handle(std::make_shared<const typename Handle::Impl>(std::move(impl)));
  }
  static Model make(slide::Model&& model) {
    return Model(std::make_shared<const Model::Impl>(std::move(model)));
  }
};

// The samples of `data` for a network of `config`: scaled to unit length where `config` says so and `data`
// came from memory; else the same arrays.
Dataset scaled_rows(const Data::Impl& data, const DataConfig& config);

// The rows to train on: without labels that a text names and its model does not know.
Dataset rows_to_train(const Data::Impl& data, Dataset rows);

// Records the settings with which `data` were read (from a file or texts) in a configuration.
void record_reading(const Data::Impl& data, slide::Config& config);

Measures measures_of(const Metrics& metrics);
// nullopt without predictions.
std::optional<Reliability> summary_of(const slide::Reliability& all, const slide::Reliability& top);

// Runs `body`; converts exceptions of the standard library to Error.
template <class F>
auto guarded(F&& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error("out of memory");
  } catch (const std::exception& error) {
    throw Error(error.what());
  }
}

}  // namespace slide::api

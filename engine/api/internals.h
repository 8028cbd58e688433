// What stands behind the public classes, and the one way to get at it. Internal to the library.
#pragma once

#include <slide/config.h>
#include <slide/data.h>
#include <slide/model.h>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "datasets/dataset.h"
#include "engine/base/error.h"
#include "engine/config/config.h"
#include "engine/run/model_file.h"
#include "engine/training/trainer.h"

namespace slide::api {

struct Config::Impl {
  slide::Config config;
};

// What a file was read with, and later readers must know.
struct Reading {
  DataConfig options;
  std::shared_ptr<const TextModel> text;  // or nullptr
};

struct Data::Impl {
  Dataset rows;
  std::optional<Reading> reading;  // none: from memory, values as they are
  // From memory: the arrays of `rows`, and who keeps them.
  DatasetView view;
  std::shared_ptr<const void> storage;
  std::size_t copied_bytes = 0;
};

// A network as it left its trainer, which owns it. The data are gone: nobody looks at them any more.
struct TrainedHere {
  Dataset train, test, validation;
  std::optional<Trainer> trainer;
};

// A network as it was read from a file.
struct LoadedModel {
  explicit LoadedModel(slide::Model read) : model(std::move(read)) {}
  slide::Model model;
  std::once_flag tables;  // are built when they are first asked for
};

struct Model::Impl {
  slide::Config config;  // of the run
  DataShape shape;       // of the training data
  std::uint64_t steps = 0;
  std::shared_ptr<const TextModel> text;  // of a model trained on text, else nullptr
  // One of the two:
  std::unique_ptr<TrainedHere> here;
  std::unique_ptr<LoadedModel> loaded;

  TrainedNetwork trained() const { return here ? here->trainer->trained() : loaded->model.trained(); }
  // LSH inference needs them. Safe from any thread; nothing else looks at the tables of a loaded model.
  void build_tables(int threads) const;
  void save(const std::string& path) const;
};

struct Internals {
  static const slide::Config& of(const Config& config) { return config.impl_->config; }
  static const Data::Impl& of(const Data& data) { return *data.impl_; }
  static const std::shared_ptr<const Model::Impl>& of(const Model& model) { return model.impl_; }
  template <class Handle>
  static Handle make(typename Handle::Impl&& impl) {
    return Handle(std::make_shared<const typename Handle::Impl>(std::move(impl)));
  }
};

// The samples of `data` for a network of `config`: scaled to unit length where that says so and `data` came
// from memory, else the same arrays.
Dataset scaled_rows(const Data::Impl& data, const DataConfig& config);

Measures measures_of(const Metrics& metrics);

// Runs `body`; of the standard library's exceptions, which callers are not told of, it makes an Error.
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

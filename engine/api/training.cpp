#include <slide/training.h>

#include <optional>
#include <utility>

#include "datasets/reader.h"
#include "engine/api/callbacks.h"
#include "engine/api/internals.h"
#include "engine/base/parallel.h"
#include "engine/network/memory_plan.h"
#include "engine/network/network_copy.h"
#include "engine/run/require_memory.h"
#include "engine/run/run_data.h"

namespace slide::api {

namespace {

Evaluation evaluation_of(const EvalReport& report) {
  Evaluation evaluation;
  evaluation.epoch = report.epoch;
  evaluation.validation = report.validation;
  evaluation.best = report.best;
  evaluation.seconds = report.eval_seconds;
  evaluation.measures = measures_of(report.metrics);
  return evaluation;
}

TrainObserver observer_of(const Callbacks& callbacks, const std::function<void(const std::string&)>& save) {
  TrainObserver observer;
  if (callbacks.step) {
    observer.step = [&](const StepReport& r) {
      return call(callbacks.step, Progress{r.epoch, r.step, r.total_steps, r.samples, r.loss, r.seconds});
    };
  }
  if (callbacks.epoch) {
    observer.epoch = [&](const EpochReport& r) {
      call(callbacks.epoch, EpochSummary{r.epoch, r.step, r.loss, r.train_seconds, r.samples_per_second});
    };
  }
  observer.eval = [&, save](const EvalReport& report) {  // without, train.patience would count nothing
    if (!callbacks.evaluation) return;
    Evaluation evaluation = evaluation_of(report);
    evaluation.save_model = save;
    call(callbacks.evaluation, evaluation);
  };
  return observer;
}

void save_running(const std::string& path, const slide::Config& config, const Trainer& trainer,
                  const TextModel* text) {
  const OptimizerState& state = trainer.training().optimizer_state();
  save_model(path, {config, trainer.shape(), trainer.trained(), &state, trainer.steps(), text});
}

// The model alone: the data and the rest of the trainer are given back.
Model keep(const slide::Config& config, Trainer&& trainer, std::shared_ptr<const TextModel> text,
           std::uint64_t steps_before = 0) {
  DataShape shape = trainer.shape();
  const std::uint64_t steps = steps_before + trainer.steps();
  TrainedModel trained = std::move(trainer).release();
  std::optional<OptimizerState> optimizer;
  if (config.train.save_optimizer) optimizer = std::move(trained.optimizer);
  return Internals::make({.config = config,
                          .shape = std::move(shape),
                          .steps = steps,
                          .has_optimizer_state = config.train.save_optimizer,
                          .hashes = {},  // the tables are there
                          .network = std::move(trained.network),
                          .optimizer = std::move(optimizer),
                          .neighbours = std::move(trained.neighbours),
                          .text = std::move(text),
                          .checksum = 0,
                          .bytes = {},
                          .notes = {}});
}

Model train_on(const slide::Config& config, RunData data, const Callbacks& callbacks) {
  const bool tested = data.test && callbacks.evaluation;
  const std::optional<Dataset> validation = take_validation(config, data);
  const int threads = resolve_threads(static_cast<int>(config.train.threads));
  require_memory(plan_run(config, data.train, threads));
  Trainer trainer(config, data.train, tested ? &*data.test : nullptr, 0, validation ? &*validation : nullptr);
  trainer.run(observer_of(callbacks, [&](const std::string& path) {
    guarded([&] { save_running(path, config, trainer, data.text.get()); });
  }));
  return keep(config, std::move(trainer), data.text);
}

// The frequencies of all samples so far.
DataShape grown(const DataShape& before, const Dataset& more) {
  DataShape shape = before;
  shape.samples += more.size();
  const std::vector<std::uint32_t> frequencies = more.label_frequencies();
  for (std::size_t label = 0; label < frequencies.size(); ++label)
    shape.label_frequencies[label] += frequencies[label];
  return shape;
}

template <class T>
void append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

void append_offsets(const std::vector<std::uint64_t>& from, std::vector<std::uint64_t>& to) {
  const std::uint64_t before = to.back();
  for (std::size_t i = 1; i < from.size(); ++i) to.push_back(before + from[i]);
}

// Those of the model, and behind them the new samples.
Neighbours joined(const Neighbours& before, const NeighbourConfig& config, const Dataset& more,
                  const FeatureScale& scale) {
  const Neighbours added(config, more, scale);
  const Neighbours::Storage& from = added.storage();
  Neighbours::Storage all = before.storage();
  append_offsets(from.feature_offsets, all.feature_offsets);
  append(from.features, all.features);
  append(from.values, all.values);
  append_offsets(from.label_offsets, all.label_offsets);
  append(from.labels, all.labels);
  if (all.samples() > UINT32_MAX) fail_run("{} samples are too many for neighbours", all.samples());
  return {config, std::move(all), more.feature_count()};
}

TrainedStart start_from(const slide::Model& model, const Dataset& more, int threads) {
  DataShape shape = grown(model.shape, more);
  Network network = copy_of(model.network, shape);
  network.rebuild_index(model.network.generation(), threads);
  TrainedStart start{std::move(shape), std::move(network), std::nullopt, std::nullopt, model.steps};
  if (model.optimizer) start.optimizer = copy_of(*model.optimizer);
  if (model.neighbours) {
    start.neighbours =
        joined(*model.neighbours, model.config.neighbours, more, model.network.feature_scale());
  }
  return start;
}

void check_fits(const Data& data, const slide::Model& model) {
  const std::size_t features = model.network.features(), labels = model.shape.labels;
  if (data.features() != features)
    fail_input("the data have {} features, the model {}; give both the same number of columns",
               data.features(), features);
  if (data.labels() > labels)
    fail_input("the data have {} labels, the model {}; training goes on with the labels of the model alone",
               data.labels(), labels);
}

Model train_further_on(const Model::Impl& impl, const Data& data, std::uint32_t epochs,
                       const Callbacks& callbacks) {
  const slide::Model& model = impl.model;
  check_fits(data, model);
  if (epochs == 0) fail_input("epochs must be at least 1");
  slide::Config used = model.config;
  used.train.epochs = epochs;
  used.data.validation = {};
  used.train.patience = 0;
  const Dataset rows = scaled_rows(Internals::of(data), used.data);
  const int threads = resolve_threads(static_cast<int>(used.train.threads));
  require_memory(plan_memory(used, rows.feature_count(), model.shape.labels,
                             bounds_of(rows, used.train.block_size), threads));
  impl.build_tables(threads);
  Trainer trainer(used, rows, start_from(model, rows, threads));
  trainer.run(observer_of(callbacks, {}));
  return keep(model.config, std::move(trainer), model.text, model.steps);
}

// The file of validation, as samples like those in memory.
void read_validation(const slide::Config& config, RunData& data) {
  if (config.data.validation.file.empty()) return;
  const ReadOptions options = model_read_options(config.data, data.train.feature_count(), data.text,
                                                 static_cast<int>(config.train.threads));
  data.validation = read_dataset(config.data.validation.file, options);
}

Model train_rows(const Config& config, const Data& train, const Data* test, const Callbacks& callbacks) {
  slide::Config used = Internals::of(config);
  const Data::Impl& rows = Internals::of(train);
  RunData data;
  record_reading(rows, used);
  if (rows.reading) data.text = rows.reading->text;
  data.train = scaled_rows(rows, used.data);
  if (test != nullptr) {
    if (test->features() > train.features())
      fail_input("the test data have {} features, the training data {}; give both the same number of columns",
                 test->features(), train.features());
    data.test = scaled_rows(Internals::of(*test), used.data);
  }
  guarded([&] { read_validation(used, data); });
  return guarded_with_callbacks([&] { return train_on(used, std::move(data), callbacks); });
}

}  // namespace

Model train(const Config& config, const Callbacks& callbacks) {
  const slide::Config& used = Internals::of(config);
  RunData data = guarded([&] { return read_run_data(used, static_cast<int>(used.train.threads)); });
  return guarded_with_callbacks([&] { return train_on(used, std::move(data), callbacks); });
}

Model train(const Config& config, const Data& train, const Callbacks& callbacks) {
  return train_rows(config, train, nullptr, callbacks);
}

Model train(const Config& config, const Data& train, const Data& test, const Callbacks& callbacks) {
  return train_rows(config, train, &test, callbacks);
}

Model train_further(const Model& model, const Data& data, std::uint32_t epochs, const Callbacks& callbacks) {
  return guarded_with_callbacks(
      [&] { return train_further_on(*Internals::of(model), data, epochs, callbacks); });
}

}  // namespace slide::api

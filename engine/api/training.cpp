#include <slide/training.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "datasets/reader.h"
#include "engine/api/callbacks.h"
#include "engine/api/internals.h"
#include "engine/base/interruption.h"
#include "engine/base/parallel.h"
#include "engine/run/continue_training.h"
#include "engine/run/first_vectors.h"
#include "engine/run/require_memory.h"
#include "engine/run/run_data.h"
#include "engine/run/validation_keys.h"
#include "engine/training/memory_plan.h"

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

// Connects the callbacks of a caller to the training loop. `save` writes the running model to a path.
// `callbacks` must outlive the result.
TrainObserver observer_of(const Callbacks& callbacks, const std::function<void(const std::string&)>& save) {
  TrainObserver observer;
  if (callbacks.step) {
    observer.step = [&](const StepReport& report) {
      Interruption::end();  // from here on there is a model to keep
      return call(callbacks.step, Progress{report.epoch, report.step, report.total_steps, report.samples,
                                           report.loss, report.seconds});
    };
  }
  if (callbacks.epoch) {
    observer.epoch = [&](const EpochReport& report) {
      call(callbacks.epoch, EpochSummary{report.epoch, report.step, report.loss, report.train_seconds,
                                         report.samples_per_second});
    };
  }
  // needed even without a callback: train.patience counts evaluations
  observer.eval = [&, save](const EvalReport& report) {
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

// Keeps the model; releases the data and the rest of the trainer.
Model keep(const slide::Config& config, Trainer&& trainer, std::shared_ptr<const TextModel> text,
           std::vector<std::uint32_t> unseen_runs = {}) {
  DataShape shape = trainer.shape();
  const std::uint64_t steps = trainer.all_steps();
  TrainedModel trained = std::move(trainer).release();
  std::optional<OptimizerState> optimizer;
  if (config.train.save_optimizer) optimizer = std::move(trained.optimizer);
  return Internals::make({.config = config,
                          .shape = std::move(shape),
                          .steps = steps,
                          .has_optimizer_state = config.train.save_optimizer,
                          .hashes = {},  // the network has its tables
                          .network = std::move(trained.network),
                          .optimizer = std::move(optimizer),
                          .neighbours = std::move(trained.neighbours),
                          .text = std::move(text),
                          .unseen_runs = std::move(unseen_runs),
                          .thresholds = {},
                          .calibration = {},
                          .checksum = 0,
                          .bytes = {},
                          .notes = {}});
}

// Trains on `data` and returns the model. Order: effective configuration, validation samples held out, memory
// checked, rows with crosses, vectors of the first layer, training.
Model train_on(const slide::Config& stated, RunData data, const Callbacks& callbacks) {
  const slide::Config config = effective_config(stated, facts_of(data.train, data.text.get()));
  const bool tested = data.test && callbacks.evaluation;
  const std::optional<Dataset> validation = take_validation(config, data);
  const int threads = resolve_threads(static_cast<int>(config.train.threads));
  require_memory(plan_least(config, data.train, threads));
  TrainingRows rows(config, data.train, threads);
  const std::size_t evaluated = std::max(tested ? data.test->size() : 0, validation ? validation->size() : 0);
  require_memory(plan_run(config, rows, threads, evaluated));
  Trainer trainer({config,
                   std::move(rows),
                   FreshStart(),
                   threads,
                   {tested ? &*data.test : nullptr, validation ? &*validation : nullptr}});
  if (!config.train.vectors.empty())
    start_from_vectors(config.train.vectors, data.text.get(), trainer.network());
  trainer.run(observer_of(callbacks, [&](const std::string& path) {
    guarded([&] { save_running(path, config, trainer, data.text.get()); });
  }));
  return keep(config, std::move(trainer), data.text);
}

// Ids of words and labels are valid only for text read with the same vocabulary.
void check_text(const Data::Impl& data, const slide::Model& model) {
  const std::shared_ptr<const TextModel> text = data.reading ? data.reading->text : nullptr;
  if (text == nullptr || text == model.text) return;
  if (data.reading->before != nullptr && data.reading->before == model.text) return;
  if (model.text == nullptr || text->digest() != model.text->digest())
    fail_input("the data are text with words of its own; read it with the model to continue");
}

// The vocabulary that continues the model's, or nullptr.
std::shared_ptr<const TextModel> grown_text(const Data::Impl& data) {
  return data.reading && data.reading->before != nullptr ? data.reading->text : nullptr;
}

// The rows with the weights of labels that the data have.
Dataset with_label_weights(Dataset rows, const Data::Impl& data, const DataConfig& config) {
  if (data.label_weights == nullptr) return rows;
  if (config.label_weights.power != 0)
    fail_input("data.label_weights and label_weighted() both weigh labels; leave one out");
  std::vector<float> weights = *data.label_weights;
  weights.resize(rows.label_count(), 1.0F);
  return rows.with_label_weights(std::make_shared<const std::vector<float>>(std::move(weights)));
}

void check_beginning(const slide::Config& config) {
  if (!config.train.init.empty())
    fail_input(
        "train.init is set, but training begins anew; leave it out, and continue a model by "
        "continue_training(), in "
        "Python by partial_fit()");
}

// Trains a model on further samples; keys that name files of the earlier data are cleared.
Model continue_training_on(const Model::Impl& impl, const Data& data, std::uint32_t epochs,
                           const Callbacks& callbacks) {
  const slide::Model& model = impl.model;
  check_text(Internals::of(data), model);
  if (epochs == 0) fail_input("epochs must be at least 1");
  slide::Config used = model.config;
  used.train.epochs = epochs;
  used.data.validation = {};
  used.train.patience = 0;
  used.data.label_weights.file.clear();  // for the labels before
  used.data.label_text.clear();
  const Dataset more = with_label_weights(
      widened(rows_to_train(Internals::of(data), scaled_rows(Internals::of(data), used.data)),
              model.shape.features, model.shape.labels),
      Internals::of(data), used.data);
  const int threads = resolve_threads(static_cast<int>(used.train.threads));
  const std::shared_ptr<const TextModel> grown = grown_text(Internals::of(data));
  TrainingRows rows = continued_rows(model, more, grown.get(), threads);
  require_memory(plan_run(used, rows, threads, 0));
  TrainedStart start = start_continued(model, used, rows, grown.get(), {}, threads);
  Trainer trainer({used, std::move(rows), ContinuedStart{std::move(start)}, threads});
  trainer.run(observer_of(callbacks, {}));
  std::vector<std::uint32_t> unseen_runs = model.unseen_runs;  // only `slide train --init` counts them
  if (!unseen_runs.empty()) unseen_runs.resize(more.label_count());
  return keep(model.config, std::move(trainer), grown != nullptr ? grown : model.text,
              std::move(unseen_runs));
}

// Reads the validation file as samples in memory.
void read_validation(const slide::Config& config, RunData& data) {
  if (config.data.validation.file.empty()) return;
  const ReadOptions options =
      model_read_options(config.data, {data.train.sparse_count(), data.train.dense_count()}, data.text,
                         static_cast<int>(config.train.threads));
  data.validation = read_dataset(config.data.validation.file, options);
}

// Data besides the training samples; each may be nullptr.
struct Beside {
  const Data* test = nullptr;
  const Data* validation = nullptr;
};

Dataset rows_beside(const Data& beside, const char* name, const Data& train, const DataConfig& config) {
  if (beside.features() > train.features())
    fail_input("the {} data have {} features, the training data {}; give both the same number of columns",
               name, beside.features(), train.features());
  return scaled_rows(Internals::of(beside), config);
}

void take_validation_rows(const Data& validation, const Data& train, slide::Config& config, RunData& data) {
  data.validation = rows_beside(validation, "validation", train, config.data);
  if (data.validation->size() == 0 || data.validation->label_entries() == 0)
    fail_input("the validation data have no sample with a label");
  if (!config.data.validation.wanted()) config.data.validation.file = "memory";
}

// Trains on samples in memory: builds the RunData that a run otherwise reads from files.
Model train_rows(const Config& config, const Data& train, const Beside& beside, const Callbacks& callbacks) {
  slide::Config used = Internals::of(config);
  check_beginning(used);
  const Data::Impl& rows = Internals::of(train);
  RunData data;
  record_reading(rows, used);
  if (rows.reading) data.text = rows.reading->text;
  data.train = with_configured_order(rows_to_train(rows, scaled_rows(rows, used.data)), used.data);
  if (beside.test != nullptr) data.test = rows_beside(*beside.test, "test", train, used.data);
  if (beside.validation != nullptr) take_validation_rows(*beside.validation, train, used, data);
  guarded([&] {
    if (!data.validation) read_validation(used, data);
    const auto texts = data.text != nullptr ? named_label_texts(used.data) : nullptr;
    add_label_texts(used.data, texts.get(), static_cast<int>(used.train.threads), data);
    add_label_weights(used.data, data);
    data.train = with_label_weights(data.train, rows, used.data);
  });
  return guarded_with_callbacks([&] { return train_on(used, std::move(data), callbacks); });
}

}  // namespace

Model train(const Config& config, const Callbacks& callbacks) {
  const slide::Config& used = Internals::of(config);
  check_beginning(used);
  RunData data = guarded([&] { return read_run_data(used, static_cast<int>(used.train.threads)); });
  return guarded_with_callbacks([&] {
    for (const std::string& warning : data.warnings()) {
      if (callbacks.warning) call(callbacks.warning, warning);
    }
    return train_on(used, std::move(data), callbacks);
  });
}

Model train(const Config& config, const Data& train, const Callbacks& callbacks) {
  return train_rows(config, train, {}, callbacks);
}

Model train(const Config& config, const Data& train, const Data& test, const Callbacks& callbacks) {
  return train_rows(config, train, {&test, nullptr}, callbacks);
}

Model train_validated(const Config& config, const Data& train, const Data& validation,
                      const Callbacks& callbacks) {
  return train_rows(config, train, {nullptr, &validation}, callbacks);
}

namespace {

// A Data of some rows of `data`, with its reading, names and warnings.
Data part_of(const Data::Impl& data, Dataset rows) {
  const auto kept = std::make_shared<const Dataset>(std::move(rows));
  Data::Impl part = data;
  part.view = kept->view();
  part.storage = kept;
  part.rows = *kept;
  return Internals::make<Data>(std::move(part));
}

}  // namespace

HeldOut hold_out(const Config& config, const Data& data) {
  return guarded([&] {
    slide::Config used = Internals::of(config);
    const Data::Impl& all = Internals::of(data);
    record_reading(all, used);
    if (used.data.validation.share <= 0) fail_input("data.validation is no share of the samples; give one");
    RunData parts;
    parts.train = with_configured_order(rows_to_train(all, all.rows), used.data);
    Dataset validation = *take_validation(used, parts);
    return HeldOut{part_of(all, std::move(parts.train)), part_of(all, std::move(validation))};
  });
}

Model continue_training(const Model& model, const Data& data, std::uint32_t epochs,
                        const Callbacks& callbacks) {
  return guarded_with_callbacks(
      [&] { return continue_training_on(*Internals::of(model), data, epochs, callbacks); });
}

}  // namespace slide::api

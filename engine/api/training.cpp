#include <slide/training.h>

#include <exception>
#include <optional>
#include <utility>

#include "datasets/split.h"
#include "engine/api/internals.h"
#include "engine/base/parallel.h"
#include "engine/network/memory_plan.h"
#include "engine/run/require_memory.h"
#include "engine/run/run_data.h"

namespace slide::api {

namespace {

// A callback threw. Not one of the standard exceptions, so that the engine passes it on as it is.
struct CallbackFailed {
  std::exception_ptr reason;
};

template <class F, class Report>
auto call(const F& callback, const Report& report) {
  try {
    return callback(report);
  } catch (...) {
    throw CallbackFailed{std::current_exception()};
  }
}

Evaluation evaluation_of(const EvalReport& report) {
  Evaluation evaluation;
  evaluation.epoch = report.epoch;
  evaluation.validation = report.validation;
  evaluation.best = report.best;
  evaluation.seconds = report.eval_seconds;
  evaluation.measures = measures_of(report.metrics);
  return evaluation;
}

TrainObserver observer_of(const Callbacks& callbacks, Model::Impl& model) {
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
  observer.eval = [&](const EvalReport& report) {  // without, train.patience would count nothing
    if (!callbacks.evaluation) return;
    Evaluation evaluation = evaluation_of(report);
    evaluation.save_model = [&](const std::string& path) {
      guarded([&] {
        model.steps = model.here->trainer->steps();
        model.save(path);
      });
    };
    call(callbacks.evaluation, evaluation);
  };
  return observer;
}

Model train_on(const slide::Config& config, RunData data, const Callbacks& callbacks) {
  Model::Impl model;
  model.config = config;
  model.text = data.text;
  model.here = std::make_unique<TrainedHere>();
  TrainedHere& here = *model.here;
  here.train = std::move(data.train);
  const bool tested = data.test && callbacks.evaluation;
  if (tested) here.test = std::move(*data.test);
  if (config.data.validation > 0) {
    Split split = split_dataset(here.train, config.data.validation, here.train.size(), config.train.seed);
    here.train = std::move(split.train);
    here.validation = std::move(split.validation);
  }
  const int threads = resolve_threads(static_cast<int>(config.train.threads));
  require_memory(plan_memory(config, here.train.feature_count(), here.train.label_count(),
                             bounds_of(here.train, config.train.block_size), threads));
  here.trainer.emplace(config, here.train, tested ? &here.test : nullptr, 0,
                       config.data.validation > 0 ? &here.validation : nullptr);
  model.shape = here.trainer->shape();
  here.trainer->run(observer_of(callbacks, model));
  model.steps = here.trainer->steps();
  here.train = here.test = here.validation = Dataset();
  return Internals::make<Model>(std::move(model));
}

Model train_guarded(const slide::Config& config, RunData data, const Callbacks& callbacks) {
  try {
    return guarded([&] { return train_on(config, std::move(data), callbacks); });
  } catch (const CallbackFailed& failure) {
    std::rethrow_exception(failure.reason);
  }
}

Model train_rows(const Config& config, const Data& train, const Data* test, const Callbacks& callbacks) {
  slide::Config used = Internals::of(config);
  const Data::Impl& rows = Internals::of(train);
  RunData data;
  if (rows.reading) {
    const DataConfig& read = rows.reading->options;
    used.data.format = read.format;
    used.data.one_based = read.one_based;
    used.data.normalize = read.normalize;
    data.text = rows.reading->text;
    if (data.text != nullptr) used.text = data.text->options();
  }
  data.train = scaled_rows(rows, used.data);
  if (test != nullptr) {
    if (test->features() > train.features())
      fail_input("the test data have {} features, the training data {}; give both the same number of columns",
                 test->features(), train.features());
    data.test = scaled_rows(Internals::of(*test), used.data);
  }
  return train_guarded(used, std::move(data), callbacks);
}

}  // namespace

Model train(const Config& config, const Callbacks& callbacks) {
  const slide::Config& used = Internals::of(config);
  RunData data = guarded([&] { return read_run_data(used, static_cast<int>(used.train.threads)); });
  return train_guarded(used, std::move(data), callbacks);
}

Model train(const Config& config, const Data& train, const Callbacks& callbacks) {
  return train_rows(config, train, nullptr, callbacks);
}

Model train(const Config& config, const Data& train, const Data& test, const Callbacks& callbacks) {
  return train_rows(config, train, &test, callbacks);
}

}  // namespace slide::api

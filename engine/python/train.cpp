// Bindings of training, with callbacks into Python.
#include <pybind11/stl.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "engine/python/bindings.h"
#include "engine/python/engine_call.h"
#include "engine/python/watch.h"

namespace slide::python {

namespace {

using Clock = std::chrono::steady_clock;
using namespace py::literals;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

py::dict dict_of(const api::Progress& at) {
  return py::dict("epoch"_a = at.epoch, "step"_a = at.step, "total_steps"_a = at.total_steps,
                  "samples"_a = at.samples, "loss"_a = at.loss, "seconds"_a = at.seconds);
}

py::dict dict_of(const api::EpochSummary& epoch) {
  return py::dict("epoch"_a = epoch.epoch, "step"_a = epoch.step, "loss"_a = epoch.loss,
                  "train_seconds"_a = epoch.train_seconds, "samples_per_second"_a = epoch.samples_per_second);
}

py::dict dict_of(const api::Evaluation& evaluation) {
  py::dict measures;
  for (const auto& [name, value] : evaluation.measures) measures[py::str(name)] = value;
  return py::dict("epoch"_a = evaluation.epoch, "validation"_a = evaluation.validation,
                  "best"_a = evaluation.best, "seconds"_a = evaluation.seconds, "measures"_a = measures);
}

// Watch of a training run.
class TrainWatch : public Watch {
 public:
  // Each callback may be None. `step` is called when `interval` seconds have passed since its last call, and
  // after the last step. `best_path`: file for the best model on the validation samples, or empty.
  TrainWatch(py::object step, double interval, py::object epoch, py::object evaluation, std::string best_path)
      : step_(std::move(step)),
        interval_(interval),
        epoch_(std::move(epoch)),
        evaluation_(std::move(evaluation)),
        best_path_(std::move(best_path)) {}

  api::Callbacks callbacks() {
    api::Callbacks all;
    all.step = [this](const api::Progress& at) { return after_step(at); };
    if (!epoch_.is_none()) {
      all.epoch = [this](const api::EpochSummary& at) { ask([&] { epoch_(dict_of(at)); }); };
    }
    if (!evaluation_.is_none() || !best_path_.empty()) {
      all.evaluation = [this](const api::Evaluation& at) { after_evaluation(at); };
    }
    return all;
  }

 private:
  // Looks for signals after each step; calls the Python callback every interval_ seconds and after the last
  // step. False ends training.
  bool after_step(const api::Progress& at) {
    look();
    const bool due = seconds_since(told_) >= interval_ || at.step == at.total_steps;
    if (step_.is_none() || !due || stopped()) return !stopped();
    told_ = Clock::now();
    ask([&] {
      if (step_(dict_of(at)).is(py::bool_(false))) stop();
    });
    return !stopped();
  }

  void after_evaluation(const api::Evaluation& at) {
    if (at.best && !best_path_.empty()) at.save_model(best_path_);
    if (!evaluation_.is_none()) ask([&] { evaluation_(dict_of(at)); });
  }

  py::object step_;
  double interval_;
  py::object epoch_, evaluation_;
  std::string best_path_;
  Clock::time_point told_;
};

// Returns (the model, None or the KeyboardInterrupt that ended training).
py::tuple train(const api::Config& config, const api::Data& data, const std::optional<api::Data>& validation,
                const py::object& step, double interval, const py::object& epoch,
                const py::object& evaluation, const std::string& best_path) {
  TrainWatch watch(step, interval, epoch, evaluation, best_path);
  const api::Callbacks callbacks = watch.callbacks();
  const api::Model model = engine_call(watch, [&] {
    return validation ? api::train_validated(config, data, *validation, callbacks)
                      : api::train(config, data, callbacks);
  });
  return py::make_tuple(model, watch.outcome());
}

py::tuple continue_training(const api::Model& model, const api::Data& data, std::uint32_t epochs,
                            const py::object& step, double interval, const py::object& epoch) {
  TrainWatch watch(step, interval, epoch, py::none(), "");
  const api::Callbacks callbacks = watch.callbacks();
  const api::Model further =
      engine_call(watch, [&] { return api::continue_training(model, data, epochs, callbacks); });
  return py::make_tuple(further, watch.outcome());
}

// Returns (samples to train on, samples held out).
py::tuple hold_out(const api::Config& config, const api::Data& data) {
  const api::HeldOut parts = engine_call([&] { return api::hold_out(config, data); });
  return py::make_tuple(parts.train, parts.validation);
}

}  // namespace

void bind_train(py::module_& module) {
  module.def("train", &train, py::arg("config"), py::arg("data"), py::arg("validation"), py::arg("step"),
             py::arg("interval"), py::arg("epoch"), py::arg("evaluation"), py::arg("best_path"));
  module.def("hold_out", &hold_out, py::arg("config"), py::arg("data"));
  module.def("continue_training", &continue_training, py::arg("model"), py::arg("data"), py::arg("epochs"),
             py::arg("step"), py::arg("interval"), py::arg("epoch"));
}

}  // namespace slide::python

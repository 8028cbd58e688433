// Bindings of metrics, configuration search and report.
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "engine/python/bindings.h"
#include "engine/python/engine_call.h"
#include "engine/python/watch.h"

namespace slide::python {

namespace {

using namespace py::literals;

py::list list_of(const std::vector<api::Reliability::Bin>& bins) {
  py::list list;
  for (const api::Reliability::Bin& bin : bins)
    list.append(py::dict("predictions"_a = bin.predictions, "mean_score"_a = bin.mean_score,
                         "true_share"_a = bin.true_share));
  return list;
}

// The metrics with the keys of `slide evaluate --json`.
py::dict dict_of(const api::Measures& measures, const std::optional<api::Reliability>& reliability) {
  py::dict dict = py::cast(measures);
  if (reliability)
    dict["reliability"] =
        py::dict("error"_a = reliability->error, "bins"_a = list_of(reliability->bins),
                 "top_error"_a = reliability->top_error, "top_bins"_a = list_of(reliability->top_bins));
  return dict;
}

// `with_reliability`: costs another pass over the data where the loss is normalised.
py::dict evaluate(const api::Model& model, const api::Data& data, const std::vector<std::uint32_t>& ks,
                  int threads, bool with_reliability) {
  std::optional<api::Reliability> reliability;
  const api::Measures measures = engine_call(
      [&] { return api::evaluate(model, data, ks, threads, with_reliability ? &reliability : nullptr); });
  return dict_of(measures, reliability);
}

// Matrices as for from_csr(); training labels without values, or None.
py::dict evaluate_scores(const py::object& scores, const py::object& labels,
                         const std::vector<std::uint32_t>& ks, const py::object& training_labels,
                         double propensity_a, double propensity_b, std::optional<float> threshold) {
  const api::CsrMatrix x = matrix_of(scores, "scores"), y = matrix_of(labels, "labels");
  api::ScoreOptions options;
  options.ks = ks;
  options.training_labels = matrix_of(training_labels, "training labels");
  options.propensity_a = propensity_a;
  options.propensity_b = propensity_b;
  options.threshold = threshold;
  std::optional<api::Reliability> reliability;
  const api::Measures measures =
      engine_call([&] { return api::evaluate_scores(x, y, options, &reliability); });
  return dict_of(measures, reliability);
}

py::dict dict_of(const api::Trial& trial) {
  return py::dict("number"_a = trial.number, "changes"_a = trial.changes, "score"_a = trial.score,
                  "train_seconds"_a = trial.train_seconds, "full_seconds"_a = trial.full_seconds,
                  "within"_a = trial.within, "diverged"_a = trial.diverged, "best"_a = trial.best,
                  "dropped"_a = trial.dropped, "too_large"_a = trial.too_large, "taken"_a = trial.taken);
}

// Returns a dict, or None where Python ended the search; then rethrows the Python exception.
py::object tune(const api::Config& start, const api::Data& data, double seconds, std::uint32_t trials,
                std::optional<double> train_seconds, const std::vector<std::string>& fixed,
                const py::object& trial, const py::object& note) {
  Watch watch;
  api::TuneOptions options;
  options.seconds = seconds;
  options.trials = trials;
  options.fixed = fixed;
  if (train_seconds) options.train_seconds = *train_seconds;
  api::TuneCallbacks callbacks;
  callbacks.step = [&] {
    watch.look();
    return !watch.stopped();
  };
  if (!trial.is_none()) {
    callbacks.trial = [&](const api::Trial& at) { watch.ask([&] { trial(dict_of(at)); }); };
  }
  if (!note.is_none()) callbacks.note = [&](const std::string& line) { watch.ask([&] { note(line); }); };
  std::optional<api::TuneResult> found;
  try {
    found = engine_call(watch, [&] { return api::tune(start, data, options, callbacks); });
  } catch (const Error&) {  // before the first trial finished
    if (!watch.stopped()) throw;
  }
  const py::object interrupt = watch.outcome();
  if (!interrupt.is_none()) {
    PyErr_SetObject(PyExc_KeyboardInterrupt, interrupt.ptr());
    throw py::error_already_set();
  }
  return py::dict(
      "config"_a = found->config.to_toml(), "best"_a = dict_of(found->best), "trials"_a = found->trials,
      "folds"_a = found->folds, "train_samples"_a = found->train_samples,
      "validation_samples"_a = found->validation_samples,
      "decision"_a = py::dict("by"_a = found->validation_by, "leader"_a = found->leader,
                              "taken"_a = found->best.number == found->leader,
                              "samples"_a = found->decision_samples, "difference"_a = found->difference,
                              "interval"_a = py::make_tuple(found->low, found->high), "p"_a = found->p));
}

// Returns (runs, notes, groups).
py::tuple report(const std::vector<std::string>& runs, const std::string& path) {
  const api::ReportSummary written = engine_call([&] { return api::write_report(runs, path); });
  return py::make_tuple(written.runs, written.notes, written.groups);
}

// Returns (threshold, its micro F1).
py::tuple best_threshold(const py::object& scores, const py::object& labels) {
  const api::CsrMatrix x = matrix_of(scores, "scores"), y = matrix_of(labels, "labels");
  const api::BestThreshold best = engine_call([&] { return api::best_threshold(x, y); });
  return py::make_tuple(best.threshold, best.f1_micro);
}

}  // namespace

void bind_tools(py::module_& module) {
  module.def("evaluate", &evaluate, py::arg("model"), py::arg("data"), py::arg("ks"), py::arg("threads"),
             py::arg("reliability") = false);
  module.def("evaluate_scores", &evaluate_scores, py::arg("scores"), py::arg("labels"), py::arg("ks"),
             py::arg("training_labels"), py::arg("propensity_a"), py::arg("propensity_b"),
             py::arg("threshold"));
  module.def("best_threshold", &best_threshold, py::arg("scores"), py::arg("labels"));
  module.def("tune", &tune, py::arg("config"), py::arg("data"), py::arg("seconds"), py::arg("trials"),
             py::arg("train_seconds"), py::arg("fixed"), py::arg("trial"), py::arg("note"));
  module.def("report", &report, py::arg("runs"), py::arg("path"));
}

}  // namespace slide::python

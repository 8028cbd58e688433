// Bindings of Model and Predictor.
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/python/bindings.h"
#include "engine/python/engine_call.h"

namespace slide::python {

namespace {

api::Inference inference_of(const std::string& name) {
  if (name == "configured") return api::Inference::kConfigured;
  if (name == "auto") return api::Inference::kAuto;
  if (name == "full") return api::Inference::kFull;
  if (name == "lsh") return api::Inference::kLsh;
  throw InputError("inference = '" + name + "'; want 'configured', 'auto', 'full' or 'lsh'");
}

void def_predict_options(py::module_& module) {
  using Options = api::PredictOptions;
  const auto is_logit = [](const Options& options) { return options.scores == api::Scores::kLogit; };
  const auto set_logit = [](Options& options, bool logits) {
    options.scores = logits ? api::Scores::kLogit : api::Scores::kProbability;
  };
  const auto set_inference = [](Options& options, const std::string& name) {
    options.inference = inference_of(name);
  };
  py::class_<Options>(module, "PredictOptions")
      .def(py::init<>())
      .def_readwrite("k", &Options::k)
      .def_property("logits", is_logit, set_logit)
      .def_property("inference", nullptr, set_inference)
      .def_readwrite("threads", &Options::threads)
      .def_readwrite("low_latency", &Options::low_latency)
      .def_readwrite("keep_known", &Options::keep_known)
      .def_readwrite("rare", &Options::rare);
}

api::Predictor make_predictor(const api::Model& model, const api::PredictOptions& options) {
  return engine_call([&] { return api::Predictor(model, options); });
}

// Returns (labels [samples x k] as uint32, 0xffffffff where missing; scores [samples x k] as float32).
py::tuple predict(const api::Predictor& predictor, const api::Data& data) {
  auto labels = new_array<std::uint32_t>(data.samples(), predictor.k());
  auto scores = new_array<float>(data.samples(), predictor.k());
  std::uint32_t* const to_labels = labels.mutable_data();
  float* const to_scores = scores.mutable_data();
  engine_call([&] { predictor.predict(data, to_labels, to_scores); });
  return py::make_tuple(labels, scores);
}

// Returns (labels, scores), each [samples, k]: the labels of each sample that reach `threshold`, or without
// it the thresholds of the model. k is the max number of such labels of a sample.
py::tuple predict_reaching(const api::Predictor& predictor, const api::Data& data,
                           std::optional<float> threshold) {
  const api::Predictions all = engine_call([&] {
    return threshold ? predictor.predict_reaching(data, *threshold) : predictor.predict_reaching(data);
  });
  const auto rows = static_cast<py::ssize_t>(data.samples()), width = static_cast<py::ssize_t>(all.k);
  py::array_t<std::uint32_t> labels({rows, width});
  py::array_t<float> scores({rows, width});
  std::copy(all.labels.begin(), all.labels.end(), labels.mutable_data());
  std::copy(all.scores.begin(), all.scores.end(), scores.mutable_data());
  return py::make_tuple(labels, scores);
}

py::dict calibrate(api::Model& model, const api::Data& data, int threads) {
  const api::Calibration found = engine_call([&] { return model.calibrate(data, threads); });
  py::dict told;
  told["slope"] = found.slope, told["offset"] = found.offset, told["mass"] = found.mass;
  told["error_before"] = found.error_before, told["error"] = found.error;
  told["top_error_before"] = found.best_error_before, told["top_error"] = found.best_error;
  return told;
}

py::list label_names(const api::Model& model) {
  py::list names;
  for (std::uint32_t label = 0; label < model.labels(); ++label)
    names.append(text_of(model.label_name(label)));
  return names;
}

// Returns (ids [found] as int64, scores [found] as float64).
py::tuple arrays_of(const std::vector<api::Related>& found) {
  auto ids = new_array<std::int64_t>(found.size());
  auto scores = new_array<double>(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ids.mutable_data()[i] = found[i].id;
    scores.mutable_data()[i] = found[i].score;
  }
  return py::make_tuple(ids, scores);
}

py::tuple nearest_labels(const api::Model& model, std::uint32_t label, std::size_t count) {
  return arrays_of(engine_call([&] { return model.nearest_labels(label, count); }));
}

// Returns (ids [n, count] as int64, -1 where there are less; cosines [n, count] as float32, 0 there).
py::tuple similar(const api::Model& model, const std::vector<std::uint32_t>& ids, std::size_t count,
                  bool features, int threads) {
  const auto all = engine_call([&] { return model.similar(ids, count, {features, threads}); });
  auto found = new_array<std::int64_t>(all.size(), count);
  auto cosines = new_array<float>(all.size(), count);
  std::fill_n(found.mutable_data(), all.size() * count, -1);
  std::fill_n(cosines.mutable_data(), all.size() * count, 0.0F);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t r = 0; r < all[i].size(); ++r) {
      found.mutable_data()[i * count + r] = all[i][r].id;
      cosines.mutable_data()[i * count + r] = static_cast<float>(all[i][r].score);
    }
  }
  return py::make_tuple(found, cosines);
}

py::tuple strongest_features(const api::Model& model, std::uint32_t label, std::size_t count) {
  return arrays_of(engine_call([&] { return model.strongest_features(label, count); }));
}

// Returns for each label a list of (feature, part).
std::vector<std::vector<std::pair<std::uint32_t, double>>> explain(const api::Model& model,
                                                                   const api::Data& data,
                                                                   const std::vector<std::uint32_t>& labels,
                                                                   std::size_t count) {
  const auto all = engine_call([&] { return model.explain(data, labels, count); });
  std::vector<std::vector<std::pair<std::uint32_t, double>>> parts(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const api::Related& one : all[i]) parts[i].emplace_back(one.id, one.score);
  }
  return parts;
}

py::array label_vectors(const api::Model& model) {
  auto vectors = new_array<float>(model.labels(), model.vector_size());
  float* const to = vectors.mutable_data();
  engine_call([&] { model.label_vectors(to); });
  return vectors;
}

py::array hidden_vectors(const api::Model& model, const api::Data& data, int threads) {
  auto vectors = new_array<float>(data.samples(), model.vector_size());
  float* const to = vectors.mutable_data();
  engine_call([&] { model.hidden_vectors(data, to, threads); });
  return vectors;
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<api::Model>(module, "Model")
      .def_static(
          "load",
          [](const std::string& path, bool with_optimizer) {
            return engine_call([&] { return api::Model::load(path, with_optimizer); });
          },
          py::arg("path"), py::arg("with_optimizer") = false)
      .def(
          "save",
          [](const api::Model& model, const std::string& path, bool force, std::optional<double> threshold,
             bool keep) { engine_call([&] { model.save(path, force, threshold, keep); }); },
          py::arg("path"), py::arg("force"), py::arg("threshold"), py::arg("keep_thresholds"))
      .def_property_readonly("features", &api::Model::features)
      .def_property_readonly("dense_columns", &api::Model::dense_columns)
      .def_property_readonly("labels", &api::Model::labels)
      .def_property_readonly("steps", &api::Model::steps)
      .def_property_readonly("threshold", &api::Model::threshold)
      .def("own_thresholds",
           [](const api::Model& model) {
             py::dict own;
             for (const auto& [label, threshold] : model.own_thresholds()) own[py::int_(label)] = threshold;
             return own;
           })
      .def("calibrate", &calibrate, py::arg("data"), py::arg("threads"))
      .def_property_readonly("is_calibrated", &api::Model::is_calibrated)
      .def_property_readonly("is_text", &api::Model::is_text)
      .def("config", &api::Model::config)
      .def("label_names", &label_names)
      .def(
          "label_id",
          [](const api::Model& model, const py::str& name) { return model.label_id(bytes_of(name)); },
          py::arg("name"))
      .def(
          "feature_name",
          [](const api::Model& model, std::uint32_t feature) { return text_of(model.feature_name(feature)); },
          py::arg("feature"))
      .def("nearest_labels", &nearest_labels, py::arg("label"), py::arg("count"))
      .def("similar", &similar, py::arg("ids"), py::arg("count"), py::arg("features"), py::arg("threads"))
      .def("strongest_features", &strongest_features, py::arg("label"), py::arg("count"))
      .def("explain", &explain, py::arg("data"), py::arg("labels"), py::arg("count"))
      .def("label_vectors", &label_vectors)
      .def("hidden_vectors", &hidden_vectors, py::arg("data"), py::arg("threads"));
  module.def(
      "near_name",
      [](const py::str& name, const py::iterable& names) {
        std::vector<std::string> all;
        for (const py::handle& one : names) all.push_back(bytes_of(py::str(one)));
        const std::string wanted = bytes_of(name);
        return text_of(engine_call([&] { return api::near_name(wanted, all); }));
      },
      py::arg("name"), py::arg("names"));
  def_predict_options(module);
  py::class_<api::Predictor>(module, "Predictor")
      .def(py::init(&make_predictor), py::arg("model"), py::arg("options"))
      .def_property_readonly("k", &api::Predictor::k)
      .def("predict", &predict, py::arg("data"))
      .def("predict_reaching", &predict_reaching, py::arg("data"), py::arg("threshold") = py::none());
}

}  // namespace slide::python

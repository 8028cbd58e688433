// Bindings of Config and Data.
#include <pybind11/stl.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/python/bindings.h"
#include "engine/python/engine_call.h"

namespace slide::python {

namespace {

using Overrides = api::Config::Overrides;

// features: (offsets, ids, values or None, columns); labels: the same without values, or None.
api::Data from_csr(const py::object& features, const py::object& labels) {
  const api::CsrMatrix x = matrix_of(features, "features"), y = matrix_of(labels, "labels");
  const auto owner = keep({features, labels});
  return engine_call([&] { return api::Data::from_csr(x, y, owner); });
}

// values: contiguous float32 [rows, columns]; labels: as for from_csr().
api::Data from_dense(const py::array_t<float, py::array::c_style>& values, const py::object& labels) {
  if (values.ndim() != 2) throw py::type_error("features: want an array of two dimensions");
  const api::CsrMatrix y = matrix_of(labels, "labels");
  const auto owner = keep({values, labels});
  const float* const first = values.data();
  const auto rows = static_cast<std::uint64_t>(values.shape(0));
  const auto columns = static_cast<std::uint64_t>(values.shape(1));
  return engine_call([&] { return api::Data::from_dense(first, rows, columns, y, owner); });
}

// values: as for from_dense(), a row for each sample.
api::Data with_dense(const api::Data& data, const py::array_t<float, py::array::c_style>& values) {
  if (values.ndim() != 2) throw py::type_error("dense columns: want an array of two dimensions");
  const auto owner = keep({values});
  const float* const first = values.data();
  const auto rows = static_cast<std::uint64_t>(values.shape(0));
  const auto columns = static_cast<std::uint64_t>(values.shape(1));
  return engine_call([&] { return data.with_dense(first, rows, columns, owner); });
}

// labels: as for from_csr(); names: by label.
api::Data learn_texts(const py::tuple& texts, const py::object& labels, const py::tuple& names,
                      const api::Config& config, bool keep_labels) {
  const auto text_views = views_of(texts), name_views = views_of(names);
  const api::CsrMatrix y = matrix_of(labels, "labels");
  return engine_call([&] { return api::Data::learn_texts(text_views, y, name_views, config, keep_labels); });
}

// names: the label names of the model, then new names.
api::Data learn_more_texts(const py::tuple& texts, const py::object& labels, const py::tuple& names,
                           const api::Model& model) {
  const auto text_views = views_of(texts), name_views = views_of(names);
  const api::CsrMatrix y = matrix_of(labels, "labels");
  return engine_call([&] { return api::Data::learn_more_texts(text_views, y, name_views, model); });
}

// source: the Model or the learnt Data whose vocabulary counts.
template <class Source>
api::Data from_texts(const py::tuple& texts, const Source& source, const py::object& labels) {
  const auto views = views_of(texts);
  const api::CsrMatrix y = matrix_of(labels, "labels");
  return engine_call([&] { return api::Data::from_texts(views, source, y); });
}

api::Data weighted(const api::Data& data,
                   const py::array_t<float, py::array::c_style | py::array::forcecast>& weights) {
  const float* const values = weights.data();
  const auto count = static_cast<std::size_t>(weights.size());
  return engine_call([&] { return data.weighted(values, count); });
}

api::Data label_weighted(const api::Data& data,
                         const py::array_t<float, py::array::c_style | py::array::forcecast>& weights) {
  const float* const values = weights.data();
  const auto count = static_cast<std::size_t>(weights.size());
  return engine_call([&] { return data.label_weighted(values, count); });
}

std::vector<std::string_view> key_views(const std::vector<std::string>& values) {
  return {values.begin(), values.end()};
}

api::Data grouped(const api::Data& data, const std::vector<std::string>& groups) {
  return engine_call([&] { return data.grouped(key_views(groups)); });
}

api::Data timed(const api::Data& data, const std::vector<std::string>& times) {
  return engine_call([&] { return data.timed(key_views(times)); });
}

// Returns (offsets as uint64, ids as uint32, values as float32).
py::tuple features_of(const api::Data& data) {
  auto offsets = new_array<std::uint64_t>(data.samples() + 1);
  auto ids = new_array<std::uint32_t>(data.feature_entries());
  auto values = new_array<float>(data.feature_entries());
  data.copy_features(offsets.mutable_data(), ids.mutable_data(), values.mutable_data());
  return py::make_tuple(offsets, ids, values);
}

// Returns float32 [samples, dense columns].
py::array_t<float> dense_of(const api::Data& data) {
  py::array_t<float> values(
      {static_cast<py::ssize_t>(data.samples()), static_cast<py::ssize_t>(data.dense_columns())});
  if (data.dense_columns() > 0) data.copy_dense(values.mutable_data());
  return values;
}

// Returns (offsets as uint64, ids as uint32).
py::tuple labels_of(const api::Data& data) {
  auto offsets = new_array<std::uint64_t>(data.samples() + 1);
  auto ids = new_array<std::uint32_t>(data.label_entries());
  data.copy_labels(offsets.mutable_data(), ids.mutable_data());
  return py::make_tuple(offsets, ids);
}

py::list label_names_of(const api::Data& data) {
  py::list names;
  for (std::uint32_t label = 0; label < data.labels(); ++label) names.append(text_of(data.label_name(label)));
  return names;
}

py::list feature_names(const api::Data& data) {
  py::list names;
  const std::uint32_t sparse = data.features() - data.dense_columns();  // dense columns have no names
  for (std::uint32_t i = 0; i < sparse; ++i) names.append(text_of(data.feature_name(i)));
  return names;
}

void bind_config(py::module_& module) {
  py::class_<api::Config>(module, "Config")
      .def(py::init<const Overrides&>(), py::arg("overrides") = Overrides{})
      .def_static("load", &api::Config::load, py::arg("path"), py::arg("overrides") = Overrides{})
      .def_static("from_toml", &api::Config::from_toml, py::arg("text"), py::arg("overrides") = Overrides{})
      .def("set", &api::Config::set, py::arg("overrides"))
      .def("to_toml", &api::Config::to_toml);
}

}  // namespace

void bind_data(py::module_& module) {
  bind_config(module);
  py::class_<api::Data>(module, "Data")
      .def_property_readonly("samples", &api::Data::samples)
      .def_property_readonly("features", &api::Data::features)
      .def_property_readonly("dense_columns", &api::Data::dense_columns)
      .def_property_readonly("labels", &api::Data::labels)
      .def_property_readonly("feature_entries", &api::Data::feature_entries)
      .def_property_readonly("label_entries", &api::Data::label_entries)
      .def_property_readonly("copied_bytes", &api::Data::copied_bytes)
      .def_property_readonly("is_text", &api::Data::is_text)
      .def_property_readonly("unknown_features", &api::Data::unknown_features)
      .def_static(
          "read",
          [](const std::string& path, const api::Config& config) {
            return engine_call([&] { return api::Data::read(path, config); });
          },
          py::arg("path"), py::arg("config"))
      .def_property_readonly("warnings",
                             [](const api::Data& data) {
                               py::list lines;
                               for (const std::string& line : data.warnings()) lines.append(text_of(line));
                               return lines;
                             })
      .def("with_dense", &with_dense, py::arg("values"))
      .def("weighted", &weighted, py::arg("weights"))
      .def("label_weighted", &label_weighted, py::arg("weights"))
      .def("grouped", &grouped, py::arg("groups"))
      .def("timed", &timed, py::arg("times"))
      .def("feature_rows", &features_of)
      .def("dense_rows", &dense_of)
      .def("label_rows", &labels_of)
      .def("label_names", &label_names_of)
      .def("feature_names", &feature_names)
      .def(
          "write",
          [](const api::Data& data, const std::string& path, const std::string& format) {
            engine_call([&] { data.write(path, format); });
          },
          py::arg("path"), py::arg("format"));
  module.def(
      "label_gaps",
      [](std::uint64_t labels, std::uint64_t entries) {
        return engine_call([&] { return api::label_gaps(labels, entries); });
      },
      py::arg("labels"), py::arg("entries"));
  module.def("from_csr", &from_csr, py::arg("features"), py::arg("labels"));
  module.def("from_dense", &from_dense, py::arg("values"), py::arg("labels"));
  module.def("learn_texts", &learn_texts, py::arg("texts"), py::arg("labels"), py::arg("names"),
             py::arg("config"), py::arg("keep_labels"));
}

namespace {

py::list user_names(const api::Data& data) {
  py::list names;
  for (std::size_t sample = 0; sample < data.samples(); ++sample)
    names.append(text_of(data.user_name(sample)));
  return names;
}

void bind_users(py::module_& module) {
  py::class_<api::KnownUsers>(module, "KnownUsers")
      .def_static(
          "read",
          [](const api::Model& model, const std::string& path) {
            return engine_call([&] { return api::KnownUsers::read(model, path); });
          },
          py::arg("model"), py::arg("path"))
      .def("__len__", &api::KnownUsers::size)
      .def("has", [](const api::KnownUsers& users, const py::str& name) { return users.has(bytes_of(name)); })
      .def("names",
           [](const api::KnownUsers& users) {
             py::list names;
             for (std::size_t user = 0; user < users.size(); ++user)
               names.append(text_of(users.user_name(user)));
             return names;
           })
      .def(
          "samples",
          [](const api::KnownUsers& users, const std::vector<py::str>& given) {
            std::vector<std::string> names;
            for (const py::str& name : given) names.push_back(bytes_of(name));
            return engine_call([&] { return users.samples(key_views(names)); });
          },
          py::arg("users"))
      .def(
          "held_out",
          [](const api::KnownUsers& users, const std::string& path) {
            return engine_call([&] { return users.held_out(path); });
          },
          py::arg("path"));
  module.def("user_names", &user_names, py::arg("data"));
}

}  // namespace

void bind_texts(py::module_& module) {
  bind_users(module);
  module.def("from_texts", &from_texts<api::Model>, py::arg("texts"), py::arg("model"), py::arg("labels"));
  module.def("from_texts", &from_texts<api::Data>, py::arg("texts"), py::arg("learnt"), py::arg("labels"));
  module.def("learn_more_texts", &learn_more_texts, py::arg("texts"), py::arg("labels"), py::arg("names"),
             py::arg("model"));
  module.def(
      "read_for",
      [](const std::string& path, const api::Model& model) {
        return engine_call([&] { return api::Data::read(path, model); });
      },
      py::arg("path"), py::arg("model"));
}

}  // namespace slide::python

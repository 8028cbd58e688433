// Config and Data.
#include <pybind11/stl.h>

#include <string>
#include <string_view>
#include <utility>

#include "engine/python/bindings.h"
#include "engine/python/engine_call.h"

namespace slide::python {

namespace {

using Overrides = api::Config::Overrides;

const float* floats_of(const py::object& values, std::size_t size) {
  if (values.is_none()) return nullptr;
  const auto array = values.cast<py::array>();
  const bool whole = array.ndim() == 1 && (array.flags() & py::array::c_style) != 0;
  if (!whole || array.dtype().kind() != 'f' || array.itemsize() != 4)
    throw py::type_error("values: want an array of one dimension of float32 without gaps");
  if (static_cast<std::size_t>(array.size()) != size)
    throw InputError("features: want as many values as ids");
  return static_cast<const float*>(array.data());
}

// features: (offsets, ids, values or None, columns); labels: (offsets, ids, columns) or None.
api::Data from_csr(const py::tuple& features, const py::object& labels) {
  std::vector<py::object> kept = {features};
  api::CsrMatrix x, y;
  x.offsets = integers_of(features[0].cast<py::array>(), "features: offsets");
  x.ids = integers_of(features[1].cast<py::array>(), "features: ids");
  x.values = floats_of(features[2], x.ids.size());
  x.columns = features[3].cast<std::uint64_t>();
  if (!labels.is_none()) {
    const auto given = labels.cast<py::tuple>();
    y.offsets = integers_of(given[0].cast<py::array>(), "labels: offsets");
    y.ids = integers_of(given[1].cast<py::array>(), "labels: ids");
    y.columns = given[2].cast<std::uint64_t>();
    kept.push_back(labels);
  }
  const auto owner = keep(std::move(kept));
  return engine_call([&] { return api::Data::from_csr(x, y, owner); });
}

api::Data from_texts(const std::vector<std::string>& texts, const api::Model& model) {
  return engine_call([&] {
    return api::Data::from_texts(std::vector<std::string_view>(texts.begin(), texts.end()), model);
  });
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
      .def_property_readonly("labels", &api::Data::labels)
      .def_property_readonly("feature_entries", &api::Data::feature_entries)
      .def_property_readonly("label_entries", &api::Data::label_entries)
      .def_property_readonly("copied_bytes", &api::Data::copied_bytes);
  module.def("from_csr", &from_csr, py::arg("features"), py::arg("labels"));
}

void bind_texts(py::module_& module) {
  module.def("from_texts", &from_texts, py::arg("texts"), py::arg("model"));
}

}  // namespace slide::python

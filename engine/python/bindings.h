// The parts of the module, each adding its classes and functions; and arrays that cross the border. All are
// called with the GIL held.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <slide/slide.h>

#include <memory>
#include <string_view>
#include <vector>

namespace slide::python {

namespace py = pybind11;

void bind_data(py::module_& module);
void bind_texts(py::module_& module);  // after bind_model()
void bind_model(py::module_& module);
void bind_train(py::module_& module);
void bind_tools(py::module_& module);

// An array of one dimension of 32 or 64 bit whole numbers without gaps; TypeError names `what` otherwise.
api::Integers integers_of(const py::array& array, const char* what);

// What SciPy's CSR matrices consist of, of which nothing is copied: (offsets, ids, values or None, columns).
// None: an empty one. Errors call it `what`.
api::CsrMatrix matrix_of(const py::object& arrays, const char* what);

// Texts where Python holds them, for as long as it does.
std::vector<std::string_view> views_of(const py::tuple& texts);

// Keeps Python objects for as long as the library holds the pointer, from whatever thread it lets go.
std::shared_ptr<const void> keep(std::vector<py::object> objects);

// A new array [rows x columns], or [rows] where `columns` is 0, not filled.
template <class T>
py::array_t<T> new_array(std::size_t rows, std::size_t columns = 0) {
  std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(rows)};
  if (columns != 0) shape.push_back(static_cast<py::ssize_t>(columns));
  return py::array_t<T>(shape);
}

}  // namespace slide::python

// Parts of the extension module; each function adds its classes and functions. Conversion of arrays. Call
// everything with the GIL held.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <slide/slide.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slide::python {

namespace py = pybind11;

void bind_data(py::module_& module);
void bind_texts(py::module_& module);  // after bind_model()
void bind_model(py::module_& module);
void bind_train(py::module_& module);
void bind_tools(py::module_& module);

// A contiguous one-dimensional array of 32-bit or 64-bit integers. Throws TypeError that names `what`
// otherwise.
api::Integers integers_of(const py::array& array, const char* what);

// View of a SciPy CSR matrix, without copies: (offsets, ids, values or None, columns). None: an empty matrix.
// Errors call it `what`.
api::CsrMatrix matrix_of(const py::object& arrays, const char* what);

// Views of Python strings, valid as long as the tuple lives.
std::vector<std::string_view> views_of(const py::tuple& texts);

// A name as a Python string, and back: bytes that are no UTF-8 become halves of surrogate pairs, as in names
// of files (PEP 383).
py::str text_of(std::string_view bytes);
std::string bytes_of(const py::str& text);

// Keeps Python objects alive while the library holds the pointer; it may be released on any thread.
std::shared_ptr<const void> keep(std::vector<py::object> objects);

// New uninitialised array [rows x columns], or [rows] where `columns` is 0.
template <class T>
py::array_t<T> new_array(std::size_t rows, std::size_t columns = 0) {
  std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(rows)};
  if (columns != 0) shape.push_back(static_cast<py::ssize_t>(columns));
  return py::array_t<T>(shape);
}

}  // namespace slide::python

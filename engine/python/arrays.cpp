#include <string>
#include <utility>

#include "engine/python/bindings.h"

namespace slide::python {

api::Integers integers_of(const py::array& array, const char* what) {
  const auto size = static_cast<std::size_t>(array.size());
  const void* const data = array.data();
  const bool whole = array.ndim() == 1 && (array.flags() & py::array::c_style) != 0;
  const char kind = array.dtype().kind();
  if (whole && kind == 'i' && array.itemsize() == 4) return {static_cast<const std::int32_t*>(data), size};
  if (whole && kind == 'u' && array.itemsize() == 4) return {static_cast<const std::uint32_t*>(data), size};
  if (whole && kind == 'i' && array.itemsize() == 8) return {static_cast<const std::int64_t*>(data), size};
  if (whole && kind == 'u' && array.itemsize() == 8) return {static_cast<const std::uint64_t*>(data), size};
  throw py::type_error(std::string(what) + ": want an array of one dimension of int32 or int64 without gaps");
}

namespace {

// The numbers of a contiguous float32 array of `size` elements; nullptr for None. `what`: for messages.
const float* floats_of(const py::object& values, std::size_t size, const char* what) {
  if (values.is_none()) return nullptr;
  const auto array = values.cast<py::array>();
  const bool whole = array.ndim() == 1 && (array.flags() & py::array::c_style) != 0;
  if (!whole || array.dtype().kind() != 'f' || array.itemsize() != 4)
    throw py::type_error(std::string(what) + ": want values of one dimension of float32 without gaps");
  if (static_cast<std::size_t>(array.size()) != size)
    throw InputError(std::string(what) + ": want as many values as ids");
  return static_cast<const float*>(array.data());
}

}  // namespace

api::CsrMatrix matrix_of(const py::object& arrays, const char* what) {
  api::CsrMatrix matrix;
  if (arrays.is_none()) return matrix;
  const auto given = arrays.cast<py::tuple>();
  matrix.offsets = integers_of(given[0].cast<py::array>(), what);
  matrix.ids = integers_of(given[1].cast<py::array>(), what);
  matrix.values = floats_of(given[2], matrix.ids.size(), what);
  matrix.columns = given[3].cast<std::uint64_t>();
  return matrix;
}

std::vector<std::string_view> views_of(const py::tuple& texts) {
  std::vector<std::string_view> views;
  views.reserve(texts.size());
  for (const py::handle text : texts) {
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes == nullptr) throw py::error_already_set();
    views.emplace_back(bytes, static_cast<std::size_t>(size));
  }
  return views;
}

py::str text_of(std::string_view bytes) {
  PyObject* const text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

std::string bytes_of(const py::str& text) {
  PyObject* const bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (bytes == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(bytes);
}

std::shared_ptr<const void> keep(std::vector<py::object> objects) {
  auto* const kept = new std::vector<py::object>(std::move(objects));
  return {static_cast<const void*>(kept), [kept](const void*) {
            const py::gil_scoped_acquire gil;
            delete kept;
          }};
}

}  // namespace slide::python

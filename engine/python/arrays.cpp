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

std::shared_ptr<const void> keep(std::vector<py::object> objects) {
  auto* const kept = new std::vector<py::object>(std::move(objects));
  return {static_cast<const void*>(kept), [kept](const void*) {
            const py::gil_scoped_acquire gil;
            delete kept;
          }};
}

}  // namespace slide::python

// Extension module slide._slide: binds the library's public headers. The public Python interface is in
// slide/.
#include <pthread.h>

#include <atomic>
#include <exception>
#include <utility>

#include "engine/python/bindings.h"
#include "engine/python/engine_call.h"

namespace slide::python {

namespace {

std::atomic<bool> forked{false};

// slide.Error, a RuntimeError, and slide.InputError, also a ValueError. They live as long as the process.
void bind_errors(py::module_& module) {
  static PyObject* const error = PyErr_NewExceptionWithDoc(
      "slide.Error", "The engine failed for a reason outside its input: a full disk, no memory.",
      PyExc_RuntimeError, nullptr);
  const py::tuple bases = py::make_tuple(py::handle(error), py::handle(PyExc_ValueError));
  static PyObject* const input_error = PyErr_NewExceptionWithDoc(
      "slide.InputError",
      "Configuration, data, file or argument are at fault; the message is the engine's own line.",
      bases.ptr(), nullptr);
  module.attr("Error") = py::handle(error);
  module.attr("InputError") = py::handle(input_error);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const InputError& failure) {
      PyErr_SetObject(input_error, text_of(failure.what()).ptr());
    } catch (const Error& failure) {
      PyErr_SetObject(error, text_of(failure.what()).ptr());
    }
  });
}

}  // namespace

bool is_forked() {
  return forked;
}

}  // namespace slide::python

PYBIND11_MODULE(_slide, module) {
  using namespace slide::python;
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  module.attr("__version__") = slide::api::version();
  bind_errors(module);
  bind_data(module);
  bind_model(module);
  bind_texts(module);
  bind_train(module);
  bind_tools(module);
}

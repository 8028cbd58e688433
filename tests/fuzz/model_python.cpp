#include "tests/fuzz/model_python.h"

#include <pybind11/embed.h>

#include "engine/base/error.h"
#include "tests/fuzz/fuzz.h"

// Of engine/python/module.cpp; Python gives the name its form. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" PyObject* PyInit__slide();

namespace slide::fuzz {

namespace {

namespace py = pybind11;

// Starts the interpreter; returns the function of model_python.py. Both live as long as the process.
py::object start_python() {
  check(PyImport_AppendInittab("_slide", &PyInit__slide) == 0, "the module becomes part of Python");
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;
  config.write_bytecode = 0;
  PyConfig_SetBytesString(&config, &config.program_name, SLIDE_FUZZ_PYTHON);
  check(PyStatus_Exception(Py_InitializeFromConfig(&config)) == 0, "Python starts");
  PyConfig_Clear(&config);
  auto modules = py::module_::import("sys").attr("modules");
  modules["slide._slide"] = py::module_::import("_slide");
  py::module_::import("sys").attr("path").attr("insert")(0, SLIDE_FUZZ_PACKAGE);
  py::module_::import("sys").attr("path").attr("insert")(0, SLIDE_FUZZ_SOURCES);
  return py::module_::import("model_python").attr("use");
}

}  // namespace

bool has_python() {
  return true;
}

bool use_python(const ModelCase& the_case, std::string& message) {
  try {
    static const py::object& use = *new py::object(start_python());
    use(the_case.model, the_case.samples, the_case.folder);
    return true;
  } catch (const py::error_already_set& raised) {
    const std::string type = py::str(raised.type().attr("__name__"));
    message = type == "InputError" || type == "Error" ? std::string(py::str(raised.value()))
                                                      : std::string(raised.what());
    const bool is_refusal = type == "InputError" || type == "Error";
    if (!is_refusal) std::fprintf(stderr, "%s\n", message.c_str());
    check(is_refusal, "Python raises slide.InputError or slide.Error");
    check(message.find('\n') == std::string::npos, "a refusal is one line");
    return false;
  }
}

}  // namespace slide::fuzz

// Communication between a long engine call and Python: callbacks, signals and exceptions.
//
// The engine's thread does not hold the GIL. It takes the GIL for due callbacks, and about fifty times per
// second to check for signals. Ctrl-C ends training after a step, and other work between two pieces of
// parallel work. Python exceptions are stored until the engine returns.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

namespace slide::python {

namespace py = pybind11;

class Watch {
 public:
  // Runs Python code with the GIL; an exception in it ends the work after this step.
  template <class F>
  void ask(F&& f) {
    const py::gil_scoped_acquire gil;
    try {
      f();
    } catch (py::error_already_set& error) {
      if (!raised_) raised_.emplace(std::move(error));
      stopped_ = true;
    }
  }
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  // After a step: checks for signals if some time has passed since the last check.
  void look();
  // The same on the main thread, where the engine works on another thread.
  void poll();

  // With the GIL: rethrows what Python code raised. Only where stopped() is from an exception.
  [[noreturn]] void rethrow();
  // With the GIL, after the engine has returned: None, or the KeyboardInterrupt that stopped it; rethrows any
  // other exception.
  py::object outcome();

 private:
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  std::optional<py::error_already_set> raised_;
  std::atomic<bool> stopped_{false};
};

}  // namespace slide::python

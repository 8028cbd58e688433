// What a long call of the engine asks Python while it works, and what Python says to it.
//
// The engine's thread has no GIL. It takes it for a callback that is due, and some fifty times a second to
// see whether a signal came: so Ctrl-C ends the work after a step. What Python raises waits here until the
// engine has come back.
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
  // Runs Python code with the GIL; what it raises ends the work after this step.
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

  // After a step: looks for a signal where some time has passed since the last look.
  void look();
  // On the thread that gets signals, where the engine works on another one.
  void poll();

  // With the GIL, when the engine has come back: None or the KeyboardInterrupt that stopped it; throws what
  // else was raised.
  py::object outcome();

 private:
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  std::optional<py::error_already_set> raised_;
  std::atomic<bool> stopped_{false};
};

}  // namespace slide::python

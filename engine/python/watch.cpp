#include "engine/python/watch.h"

namespace slide::python {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks(20);

}  // namespace

void Watch::look() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < kBetweenLooks) return;
  looked_ = now;
  poll();
}

void Watch::poll() {
  ask([] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
}

void Watch::rethrow() {
  throw py::error_already_set(std::move(*raised_));
}

py::object Watch::outcome() {
  if (!raised_) return py::none();
  if (!raised_->matches(PyExc_KeyboardInterrupt)) rethrow();
  return raised_->value();
}

}  // namespace slide::python

// Calls of the library from Python: without the GIL, and in a forked process on a new thread: OpenMP's
// threads stay in the parent, and a thread that has used them would wait for them forever.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <future>
#include <thread>
#include <type_traits>
#include <utility>

namespace slide::python {

namespace py = pybind11;

// Whether this process was forked from one that had loaded the module.
bool is_forked();

// Calls f() without the GIL; exceptions propagate. In a forked process, calls `poll` on this thread, also
// without the GIL, about fifty times per second until f() returns.
template <class F, class Poll>
auto engine_call(F&& f, Poll&& poll) {
  const py::gil_scoped_release released;
  if (!is_forked()) return f();
  std::packaged_task<std::invoke_result_t<F>()> task(std::forward<F>(f));
  auto result = task.get_future();
  std::thread thread(std::move(task));
  while (result.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) poll();
  thread.join();
  return result.get();
}

template <class F>
auto engine_call(F&& f) {
  return engine_call(std::forward<F>(f), [] {});
}

}  // namespace slide::python

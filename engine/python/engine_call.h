// How the module calls the library: without the GIL, and on a thread of its own in a process that was forked,
// for OpenMP's threads stay behind in the parent, and a thread that has used them would wait for them for
// ever.
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

// f() without the GIL; what it throws comes out. In a forked process `poll` is called on this thread, also
// without the GIL, some fifty times a second until f() is done.
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

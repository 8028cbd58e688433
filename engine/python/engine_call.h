// Calls of the library from Python: without the GIL, ended by Ctrl-C, and in a forked process on a new
// thread: OpenMP's threads stay in the parent, and a thread that has used them would wait for them forever.
#pragma once

#include <pybind11/pybind11.h>
#include <slide/interruption.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "engine/python/watch.h"

namespace slide::python {

namespace py = pybind11;

// Whether this process was forked from one that had loaded the module.
bool is_forked();

// Python code raised while the engine worked, and the watch has it.
struct Raised {};

// Returns f(), or throws Raised where `watch` is stopped before that is there.
template <class F>
std::invoke_result_t<F&> unless_raised(Watch& watch, F& f) {
  const auto wanted = [&] {
    watch.look();
    return watch.stopped();
  };
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    if (!api::interruptible(f, wanted)) throw Raised();
  } else {
    std::optional<std::invoke_result_t<F&>> result;
    if (!api::interruptible([&] { result.emplace(f()); }, wanted)) throw Raised();
    return *std::move(result);
  }
}

// Calls f() without the GIL; exceptions propagate. About fifty times a second it checks for signals, whose
// exceptions end f() between two pieces of its work; in a forked process on this thread, while f() works on
// another.
template <class F>
auto engine_call(Watch& watch, F&& f) {
  const auto call = [&] { return unless_raised(watch, f); };
  try {
    const py::gil_scoped_release released;
    if (!is_forked()) return call();
    std::packaged_task<std::invoke_result_t<F&>()> task(call);
    auto result = task.get_future();
    std::thread thread(std::move(task));
    while (result.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) watch.poll();
    thread.join();
    return result.get();
  } catch (const Raised&) {
    watch.rethrow();
  }
}

template <class F>
auto engine_call(F&& f) {
  Watch watch;
  return engine_call(watch, std::forward<F>(f));
}

}  // namespace slide::python

// Calls of the caller's callbacks: their exceptions leave the library unchanged. Internal to the library.
#pragma once

#include <exception>

#include "engine/api/internals.h"

namespace slide::api {

// A callback threw. Not derived from std::exception, so that the engine passes it on.
struct CallbackFailed {
  std::exception_ptr reason;
};

template <class F, class... Reports>
auto call(const F& callback, const Reports&... reports) {
  try {
    return callback(reports...);
  } catch (...) {
    throw CallbackFailed{std::current_exception()};
  }
}

// guarded() for code that calls callbacks through call().
template <class F>
auto guarded_with_callbacks(F&& body) {
  try {
    return guarded(body);
  } catch (const CallbackFailed& failure) {
    std::rethrow_exception(failure.reason);
  }
}

}  // namespace slide::api

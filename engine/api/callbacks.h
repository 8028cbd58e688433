// How the library calls what a caller gave it: what that throws comes out of the library as it is. Internal
// to the library.
#pragma once

#include <exception>

#include "engine/api/internals.h"

namespace slide::api {

// A callback threw. Not one of the standard exceptions, so that the engine passes it on as it is.
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

// guarded() for what calls callbacks through call().
template <class F>
auto guarded_with_callbacks(F&& body) {
  try {
    return guarded(body);
  } catch (const CallbackFailed& failure) {
    std::rethrow_exception(failure.reason);
  }
}

}  // namespace slide::api

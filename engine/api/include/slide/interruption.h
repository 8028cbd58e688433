// Interruption of long calls of the library, as by Ctrl-C or after a time.
#pragma once

#include <slide/export.h>

#include <functional>

namespace slide::api {

// Calls work(). While calls of the library in `work` run, also calls wanted() about fifty times a second, on
// this thread. Where wanted() returns true, work() is left as by an exception, and the result is false; else
// it is true. Arrays that a call was to fill may be filled in part.
//
// train() and continue_training() with Callbacks::step are interrupted only before their first step. From
// then on, the callback ends them, and they return a model.
//
// Exceptions of `work` and `wanted` propagate to the caller.
SLIDE_API bool interruptible(const std::function<void()>& work, const std::function<bool()>& wanted);

}  // namespace slide::api

// SLIDE as a library: trains and uses networks with very many outputs, on the CPU. This header is all of it.
//
// C++17 is enough, and nothing beyond the standard library is needed to compile. Every call may throw
// slide::InputError, when what it was given is at fault, and slide::Error, when the run failed for another
// reason; nothing else, but for what a callback of the caller's own throws. Linux, little-endian.
#pragma once

#include <slide/config.h>
#include <slide/data.h>
#include <slide/error.h>
#include <slide/measures.h>
#include <slide/model.h>
#include <slide/report.h>
#include <slide/training.h>
#include <slide/tuning.h>

namespace slide::api {

// "major.minor.patch" of the library that the program runs with.
SLIDE_API const char* version();

}  // namespace slide::api

// SLIDE as a library: trains and uses networks with very many outputs, on CPUs. This header includes all
// others.
//
// Requires only C++17 and its standard library to compile. Every call may throw slide::InputError, where its
// input is invalid, and slide::Error, where it failed for another reason; nothing else, except what the
// caller's own callbacks throw. Linux, little-endian.
#pragma once

#include <slide/config.h>
#include <slide/data.h>
#include <slide/error.h>
#include <slide/interruption.h>
#include <slide/measures.h>
#include <slide/model.h>
#include <slide/report.h>
#include <slide/training.h>
#include <slide/tuning.h>

namespace slide::api {

// Version "major.minor.patch" of the library at run time.
SLIDE_API const char* version();

}  // namespace slide::api

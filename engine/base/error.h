// How a call fails: the two errors of the library (include/slide/error.h), thrown with a formatted message.
// The program ends with exit code 1 after an Error and 2 after an InputError.
#pragma once

#include <fmt/format.h>

#include <slide/error.h>
#include <string>
#include <utility>

namespace slide {

// Throws an InputError with a formatted message.
template <class... Args>
[[noreturn]] void fail_input(fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(fmt::format(format, std::forward<Args>(args)...));
}

// Throws an Error with a formatted message.
template <class... Args>
[[noreturn]] void fail_run(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace slide

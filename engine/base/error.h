// The two ways a call can fail. Libraries of this project throw these and never print, exit or abort.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace slide {

// The run failed for a reason outside the user's input (disk full, out of memory): exit code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bad usage, configuration, data or model file: one line that says what, where and what to do; exit code 2.
class InputError : public Error {
 public:
  using Error::Error;
};

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

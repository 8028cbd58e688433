// Error reporting: throws the two exceptions of the library (include/slide/error.h) with a formatted message.
// The program exits with 1 after an Error and 2 after an InputError. Messages quote names and files, so
// control characters become blanks: a message is one line without terminal escapes. Safe from any thread.
#pragma once

#include <fmt/core.h>

#include <slide/error.h>
#include <string>
#include <utility>

namespace slide {

// The message with blanks in place of control characters.
inline std::string one_line(std::string message) {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return message;
}

// Throws an InputError with a formatted message.
template <class... Args>
[[noreturn]] void fail_input(fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(one_line(fmt::format(format, std::forward<Args>(args)...)));
}

// Throws an Error with a formatted message.
template <class... Args>
[[noreturn]] void fail_run(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(one_line(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace slide

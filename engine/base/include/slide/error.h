// The two ways a call can fail. The library throws these and never prints, exits or aborts.
#pragma once

#include <slide/export.h>

#include <stdexcept>

namespace slide {

// The run failed for a reason outside the user's input (disk full, out of memory).
class SLIDE_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bad usage, configuration, data or model file: one line that says what, where and what to do.
class SLIDE_API InputError : public Error {
 public:
  using Error::Error;
};

}  // namespace slide

// What tests of all rooms expect of texts and errors.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace slide {

// Whether the text has the part; a failed expectation shows both.
inline ::testing::AssertionResult contains(std::string_view text, std::string_view part) {
  const bool found = text.find(part) != std::string_view::npos;
  return (found ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << '\'' << part << (found ? "' is in: " : "' is not in: ") << text;
}

// The message of the InputError that `body` throws; empty where it throws none.
template <class F>
std::string input_error(F&& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// The same for an Error that is no InputError.
template <class F>
std::string run_error(F&& body) {
  try {
    body();
  } catch (const InputError& error) {
    ADD_FAILURE() << "the input is at fault: " << error.what();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace slide

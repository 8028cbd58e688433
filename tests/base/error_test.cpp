// Tests of error messages.
#include "engine/base/error.h"

#include <gtest/gtest.h>

namespace slide {
namespace {

template <class Fail>
std::string message_of(const Fail& fail) {
  try {
    fail();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Error, AMessageIsOneLineWhateverItQuotes) {
  const std::string name = "a\nb\r\t\x1b[31m\x7f é";
  EXPECT_EQ(message_of([&] { fail_input("'{}' is no file", name); }), "'a b   [31m  é' is no file");
  EXPECT_EQ(message_of([&] { fail_run("'{}' is no file", name); }), "'a b   [31m  é' is no file");
}

}  // namespace
}  // namespace slide

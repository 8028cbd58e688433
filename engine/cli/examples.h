// Examples of the commands, at the end of their help. tests/cli/examples_test.cpp runs them all.
#pragma once

#include <span>
#include <string_view>

namespace slide::cli {

// Two command lines, or none for an unknown command; "slide": of the program.
std::span<const std::string_view> examples_of(std::string_view command);

}  // namespace slide::cli

// Text that comes from elsewhere, a client or a damaged file: how deep it may be nested, and how much of it a
// message quotes. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slide {

// Nesting that any JSON of this project stays far below. Copying, printing and destroying a value may recurse
// as deep as it is nested, so what is deeper must be refused before it becomes a value.
inline constexpr std::size_t kMaxNesting = 32;

// Whether objects and lists of a JSON text are nested deeper than kMaxNesting. Exact up to the first byte
// that is no JSON; a reader stops there.
bool nests_too_deep(std::string_view json);

// What a message quotes: the first 80 characters of UTF-8 text, "..." where there are more, blanks in place
// of control characters.
std::string shown_part(std::string_view text);

}  // namespace slide

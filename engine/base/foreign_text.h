// Safe handling of untrusted text (clients, damaged files): limits of JSON nesting, and excerpts for
// messages. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slide {

// Max nesting of JSON, far above any JSON of this project. Copying, printing and destroying a value may
// recurse to its depth, so that deeper text is refused before parsing.
inline constexpr std::size_t kMaxNesting = 32;

// Why a text must not reach a JSON parser, or nullopt: it nests deeper than kMaxNesting, or has a NUL byte,
// which nlohmann's parser takes for the end of the text. Ask before every parse of a text that others wrote.
struct JsonFault {
  std::size_t byte;  // from 1
  std::string what;  // "nested deeper than 32 values"
};
std::optional<JsonFault> foreign_json_fault(std::string_view json);

// Whether the text has a control character (U+0000 to U+001F, U+007F), which can move the cursor of a
// terminal or end a line. `tab`: TAB is allowed.
bool has_control(std::string_view text, bool tab = false);

// Whether a byte of UTF-8 is the first one of a character.
inline bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// Excerpt for messages: the first 80 UTF-8 characters, then "..." where there are more; control characters
// become blanks.
std::string shown_part(std::string_view text);

}  // namespace slide

// Whether text is UTF-8, and what else it looks like. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slide {

// Where the first bytes stand that are no UTF-8 character; nothing in UTF-8. ASCII is looked at eight bytes
// at a time.
std::optional<std::size_t> first_no_utf8(std::string_view text);

// What text that is not UTF-8 looks like, for a message: "Latin-1", "Windows-1252", ... `at`: of
// first_no_utf8(). Looks at a few thousand bytes from there.
std::string looks_like_encoding(std::string_view text, std::size_t at);

// "UTF-16" or "UTF-32" where the text begins with their byte order mark, or without one holds ASCII in it;
// nothing for other text.
std::optional<std::string_view> wide_encoding(std::string_view text);
// The same by the mark alone.
std::optional<std::string_view> marked_wide_encoding(std::string_view text);
// Whether this is text of several lines that end in CR alone. Without a line feed in the first 64 KiB, looks
// at all of it.
bool has_lines_of_cr(std::string_view text);
// "text in UTF-16; ..." for a message that says what a file is.
std::string in_wide_encoding(std::string_view encoding);

}  // namespace slide

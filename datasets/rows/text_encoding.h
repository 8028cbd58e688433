// Detects whether text is UTF-8, and guesses other encodings. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slide {

// Returns the offset of the first bytes that are not UTF-8; nothing for valid UTF-8. O(bytes), eight at a
// time in ASCII.
std::optional<std::size_t> first_no_utf8(std::string_view text);

// Guesses the encoding of text that is not UTF-8, for a message: "Latin-1", "Windows-1252", ... Reads a few
// thousand bytes from `at` = first_no_utf8() on.
std::string looks_like_encoding(std::string_view text, std::size_t at);

// "UTF-16" or "UTF-32" where the text begins with their byte order mark, or without one holds ASCII in it;
// nothing for other text.
std::optional<std::string_view> wide_encoding(std::string_view text);
// The same by the mark alone.
std::optional<std::string_view> marked_wide_encoding(std::string_view text);
// Whether the text has several lines that end in CR without LF. Reads the first 64 KiB; all text where these
// have no LF.
bool has_lines_of_cr(std::string_view text);
// "text in UTF-16; ..." for a message that says what a file is.
std::string in_wide_encoding(std::string_view encoding);

// Warning that `text` of the file `origin` is not UTF-8 at offset `at`, as FILE:LINE: ...; `lines_before`:
// lines of the file before `text`.
std::string not_utf8_warning(std::string_view text, std::size_t at, const std::string& origin,
                             std::uint64_t lines_before);
// The same for the first such bytes of `text`; empty for UTF-8.
std::string encoding_warning(std::string_view text, const std::string& origin,
                             std::uint64_t lines_before = 0);

}  // namespace slide

// Divides a line of an interaction log into fields. Removes quotes, which may enclose separators, and blanks
// around a field. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

// kBlanks: any sequence of blanks, TABs and commas is one separator. Each other separator ends one field,
// which may be empty or contain blanks.
enum class Separator : std::uint8_t { kColons, kTab, kComma, kSemicolon, kBar, kBlanks };
inline constexpr std::size_t kSeparators = 6;
inline constexpr std::array<Separator, kSeparators - 1> kStrictSeparators = {
    Separator::kColons, Separator::kTab, Separator::kComma, Separator::kSemicolon, Separator::kBar};

// Removes the next field from `rest`, with separator kBlanks and quotes kept; empty at the end of the line.
std::string_view take_field(std::string_view& rest);

// Names with doubled quotes replaced by single ones; a deque, so that views of them stay valid.
using UnquotedNames = std::deque<std::string>;

// Sets `fields` to the fields of `line` (without line end): views of it, or of strings added to `unquoted`.
// Throws RowFault for unclosed quotes with kComma, and for TABs in quotes, which predictions could not
// separate.
void cut_fields(std::string_view line, Separator separator, std::vector<std::string_view>& fields,
                UnquotedNames& unquoted);
// The same; returns false, without fields, where cut_fields() throws.
bool try_cut_fields(std::string_view line, Separator separator, std::vector<std::string_view>& fields,
                    UnquotedNames& unquoted);
// The same; where cut_fields() throws, quotes are characters as others, shown as apostrophes.
void cut_any_fields(std::string_view line, Separator separator, std::vector<std::string_view>& fields,
                    UnquotedNames& unquoted);

}  // namespace slide

// The fields of a line of a log of interactions, between separators. What stands in quotes is without them,
// and may hold separators; blanks around a field do not count. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

// kBlanks: blanks, TABs and commas, several of which are one. All others stand between two fields each, and
// blanks within a field are part of it.
enum class Separator : std::uint8_t { kColons, kTab, kComma, kSemicolon, kBar, kBlanks };
inline constexpr std::size_t kSeparators = 6;
inline constexpr std::array<Separator, kSeparators - 1> kStrictSeparators = {
    Separator::kColons, Separator::kTab, Separator::kComma, Separator::kSemicolon, Separator::kBar};

// Takes the next field off `rest`, by kBlanks and with quotes as they are; empty where there is none.
std::string_view take_field(std::string_view& rest);

// Names whose quotes were doubled, as they are meant: strings that stay where they are.
using UnquotedNames = std::deque<std::string>;

// Cuts `line`, without its end, into `fields`: views of it, or of what is added to `unquoted`. Throws
// RowFault for quotes of kComma that are not closed, and TABs in quotes, since answers have TABs between
// names.
void cut_fields(std::string_view line, Separator separator, std::vector<std::string_view>& fields,
                UnquotedNames& unquoted);

}  // namespace slide

// Finds what the user may have meant by a name that does not exist. Pure functions, safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace slide::config {

// Levenshtein distance: insertions, deletions and replacements of one byte.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of the dotted names. A right key in the wrong section is nearer than a wrong key in the right
// one. Ties go to the first; empty if there are no names.
std::string nearest_name(std::string_view name, std::span<const std::string> names);

}  // namespace slide::config

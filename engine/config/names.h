// Suggestions for unknown names. Pure functions, safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace slide::config {

// Levenshtein distance in bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of the dotted names; a correct key in a wrong section is nearer than a wrong key in the correct
// section. Ties go to the first; empty if there are no names.
std::string nearest_name(std::string_view name, std::span<const std::string> names);

}  // namespace slide::config

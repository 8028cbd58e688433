// Suggestions for unknown names. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace slide::config {

// Levenshtein distance in bytes; some number from `limit` on where it is as large.
std::size_t edit_distance(std::string_view a, std::string_view b,
                          std::size_t limit = std::numeric_limits<std::size_t>::max());

// The nearest of the dotted names; a correct key in a wrong section is nearer than a wrong key in the correct
// section. Ties go to the first; empty if there are no names.
std::string nearest_name(std::string_view name, std::span<const std::string> names);

// Of `count` names the one with the smallest edit distance from `name`, which is at most half of the bytes of
// the longer of the two; the first of several, empty where there is none.
std::string near_name(std::string_view name, std::size_t count,
                      const std::function<std::string(std::size_t)>& name_of);
std::string near_name(std::string_view name, std::span<const std::string> names);

// "; did you mean 'train'?", empty where `near` is.
std::string suggestion(std::string_view near);

}  // namespace slide::config

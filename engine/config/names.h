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

// Returns the name of smallest edit distance from `name` among `count` names; on ties the first. Empty where
// every distance exceeds half of the bytes of the longer name.
std::string near_name(std::string_view name, std::size_t count,
                      const std::function<std::string(std::size_t)>& name_of);
std::string near_name(std::string_view name, std::span<const std::string> names);

// "; did you mean 'train'?", empty where `near` is.
std::string suggestion(std::string_view near);

}  // namespace slide::config

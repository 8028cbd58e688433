// Checks whether data are predictions, as `slide predict` prints them. Pure functions, safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace slide {

// A message "FILE:LINE: ..." where each of the first lines of `head` looks like predictions: 'name:score TAB
// name:score', with or without a user in front, with probabilities that do not rise, and either some line has
// several or there are five lines; or a JSON object of predictions. Else "". O(bytes read, 64 KiB at most).
std::string predictions_of_names(std::string_view head, const std::string& origin);

// The same for lines 'id:score id:score'. Features in the order of their values can look so, too.
std::string predictions_of_ids(std::string_view head, const std::string& origin);

}  // namespace slide

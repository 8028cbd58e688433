// Checks whether data are predictions, as `slide predict` prints them. Pure functions, safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace slide {

// Error message "FILE:LINE: ..." if each of the first lines of `head` is 'name:score TAB name:score',
// behind a user or not, with probabilities that do not rise, and one has several or there are five; or an
// object of such predictions; else "". O(bytes looked at, 64 KiB at most).
std::string predictions_of_names(std::string_view head, const std::string& origin);

// The same of lines 'id:score id:score', which features in the order of their values can be, too.
std::string predictions_of_ids(std::string_view head, const std::string& origin);

}  // namespace slide

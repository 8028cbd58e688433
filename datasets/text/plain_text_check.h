// Checks whether what a model reads as lines of text is probably records of a table. Pure functions, safe
// from any thread.
#pragma once

#include <string>
#include <string_view>

namespace slide {

// A warning that most of the first lines of `head` look like objects of JSON, or that the file is a table by
// its ending or its first line, all of it read as text; or "". `columns`: the text columns of the model's
// training, empty where it read lines of text. O(bytes looked at, 64 KiB at most).
std::string plain_text_warning(std::string_view head, const std::string& origin, std::string_view columns);

}  // namespace slide

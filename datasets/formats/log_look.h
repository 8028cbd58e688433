// Checks of an interaction log for probable mistakes. Pure functions.
#pragma once

#include <string>

#include "datasets/formats/log_form.h"
#include "datasets/rows/text_source.h"

namespace slide {

// Throws InputError for JSON and for binary files: a log is text, one record per line.
void refuse_foreign_log(const TextSource& source);

// Returns a warning if at least nine of ten of the first 1000 lines of `body` have an item that looks like
// a list of items, as 'a|b' or "['a', 'b']", or all have a user or an item like '10.0'; else "".
// `lines_before`: lines of the file before `body`.
std::string log_names_warning(const TextSource& body, const LogLayout& layout, std::size_t lines_before);

}  // namespace slide

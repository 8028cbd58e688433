// A look at a log of interactions for what its lines cannot mean, or probably do not. Pure functions.
#pragma once

#include <string>

#include "datasets/log_form.h"
#include "datasets/text_source.h"

namespace slide {

// Throws InputError for JSON, which is no log of lines.
void refuse_json_log(const TextSource& source);

// A warning where nine of ten of the first 1000 lines of `body` have an item that looks like several, as
// 'a|b' or "['a', 'b']"; else empty. `lines_before` of the file lie before it.
std::string joined_items_warning(const TextSource& body, const LogLayout& layout, std::size_t lines_before);

}  // namespace slide

// Finds the format of data from their first bytes. Pure functions, but for detect_file(); safe from any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "datasets/labelled_line.h"
#include "datasets/read_options.h"

namespace slide {

// Nothing when the format is not clear.
std::optional<DataFormat> detect_format(std::string_view bytes);

// What bytes of none of these formats are, and what to do, for a message: "JSON, which is not read; ...".
// Nothing where that is text, with no labels that can be found.
std::optional<std::string> foreign_kind(std::string_view bytes);

// Whether there is a line that is neither blank nor a comment. The lines up to it tell the format of a text.
bool has_line_of_data(std::string_view text);

// The first bytes of a file, of several (data_parts.h) the first, unpacked if it is packed: 64 KiB or more,
// so that the first line of data is whole. Empty also when it cannot be read, or only once, as a pipe.
std::string head_of_file(const std::string& path);

// Of a file, packed or not, from its first bytes. Nothing also when it cannot be read, or only once, as a
// pipe.
std::optional<DataFormat> detect_file(const std::string& path);

// Whether a line is one of XMC or libsvm text for sure: labels, or none, and then features `id:value` only.
bool looks_like_features(std::string_view line);

// The form of a text with labels, from its first line that is not blank. Nothing when that has neither kind
// of labels, or is a line of libsvm.
std::optional<TextForm> find_text_form(std::string_view text);

}  // namespace slide

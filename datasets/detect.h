// Finds the format of data from their first bytes. Pure functions, but for detect_file(); safe from any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "datasets/reader.h"

namespace slide {

// Nothing when the format is not clear.
std::optional<DataFormat> detect_format(std::string_view bytes);

// Of a file, packed or not, from its first bytes. Nothing also when it cannot be read, or only once, as a
// pipe.
std::optional<DataFormat> detect_file(const std::string& path);

// Whether a line is one of XMC or libsvm text for sure: labels, or none, and then features `id:value` only.
bool looks_like_features(std::string_view line);

// A first line of three numbers and nothing else: the header of XMC text.
bool has_xmc_header(std::string_view text);

}  // namespace slide

// Format detection from the first bytes of data. Safe from any thread; all pure except functions with a path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/read_options.h"

namespace slide {

// The name of a format, as "libsvm text".
std::string_view name_of(DataFormat format);

// nullopt where the format is unclear.
std::optional<DataFormat> detect_format(std::string_view bytes);

// For bytes of an unsupported format: its name and advice, for a message: "JSON, which is not read; ...".
// nullopt for text without recognisable labels.
std::optional<std::string> foreign_kind(std::string_view bytes);

// Whether the text has a line that is neither blank nor a comment. Detection needs the text up to such a
// line.
bool has_line_of_data(std::string_view text);

// First bytes of a file (of several files, see data_parts.h: of the first), decompressed. Empty also for
// unreadable files and pipes.
std::string head_of_file(const std::string& path);

// Format of a file, compressed or not, from its first bytes. nullopt also for unreadable files and pipes.
std::optional<DataFormat> detect_file(const std::string& path);

}  // namespace slide

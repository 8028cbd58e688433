// Positions of blank lines. Training and evaluation skip blank lines; prediction answers each with a row.
// Score files may therefore have rows for blank lines. Safe to call from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/rows/read_options.h"

namespace slide {

// Returns the positions of blank lines among all rows that RowStream makes of the file or files at `path`,
// ascending. Empty for formats whose blank lines are samples, and for formats without lines. options.format
// must not be kAuto.
std::vector<std::uint64_t> blank_rows(const std::string& path, const ReadOptions& options);

}  // namespace slide

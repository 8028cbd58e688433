// Lines of a file that are no samples where it is read for training, tests and measures, but are answered as
// one each where it is read for predictions: blank ones. So scores of a file may have a row for each of them.
// Safe to call from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/rows/read_options.h"

namespace slide {

// Their places among all rows that RowStream makes of the file or files at `path`, ascending; none of formats
// whose blank lines are samples, or which have no lines. options.format is not kAuto.
std::vector<std::uint64_t> blank_rows(const std::string& path, const ReadOptions& options);

}  // namespace slide

// Samples for prediction from a part of a text. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.h"

namespace slide {

// Rows of some lines.
struct RowPart {
  Dataset rows;
  std::vector<std::uint64_t> bad;   // malformed rows, ascending; they are empty
  std::vector<std::string> faults;  // "FILE:LINE:COLUMN: what" for the first ReadReport::kShown of them
};

}  // namespace slide
